"""The Python snippets of docs/clients.md, docs/triton.md and README.md do and print what the pages say."""

import unittest

from support.server_process import ServerProcess
from support.snippets import TRITON, readme_program, run_programs, run_section


class DocsPythonTest(unittest.TestCase):
    def test_python_snippets_print_what_the_page_says(self):
        with ServerProcess() as server:
            outputs = run_section("Python", server.address)

        self.assertEqual(len(outputs), 2)
        for expected, actual in outputs:
            self.assertEqual(actual, expected)

    def test_snippets_for_users_of_triton_print_what_the_page_says(self):
        with ServerProcess() as server:
            outputs = run_section("Python", server.address, TRITON)

        self.assertEqual(len(outputs), 2)
        for expected, actual in outputs:
            self.assertEqual(actual, expected)

    def test_readme_snippet_prints_what_the_page_says(self):
        with ServerProcess() as server:
            outputs = run_programs(readme_program(), server.address)

        for expected, actual in outputs:
            self.assertEqual(actual, expected)


if __name__ == "__main__":
    unittest.main()
