"""The Python snippets of docs/clients.md do and print what the page says."""

import unittest

from support.server_process import ServerProcess
from support.snippets import run_section


class DocsPythonTest(unittest.TestCase):
    def test_python_snippets_print_what_the_page_says(self):
        with ServerProcess() as server:
            outputs = run_section("Python", server.address)

        self.assertEqual(len(outputs), 2)
        for expected, actual in outputs:
            self.assertEqual(actual, expected)


if __name__ == "__main__":
    unittest.main()
