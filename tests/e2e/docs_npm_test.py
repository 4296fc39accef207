"""The Node and buf snippets of docs/clients.md do and print what the page says."""

import os
import unittest

from support.node_modules import node_modules
from support.server_process import ServerProcess
from support.snippets import run_section

MODULES = node_modules()


class DocsNpmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ServerProcess())

    def assert_prints(self, section, **environment):
        ((expected, actual),) = run_section(section, self.server.address, **environment)

        self.assertEqual(actual, expected)

    def test_node_snippet_prints_what_the_page_says(self):
        self.assert_prints("Node", NODE_PATH=str(MODULES))

    def test_buf_snippet_prints_what_the_page_says(self):
        self.assert_prints("buf curl", PATH=f"{MODULES / '.bin'}:{os.environ['PATH']}")


if __name__ == "__main__":
    unittest.main()
