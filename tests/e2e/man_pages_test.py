"""The man pages name every option, command and key there is."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support.server_process import binary

SOURCES = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = SOURCES / "docker" / "deb" / "man" / "make_pages.py"


def help_of(program, *command):
    return subprocess.run(
        [binary(program), *command, "--help"], capture_output=True, text=True, timeout=60, check=True
    ).stdout


def commands_of_embdctl():
    listed = help_of("embdctl").partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def options(text):
    """All options that stand at a line's beginning."""
    return set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.MULTILINE))


class ManPagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        binaries = str(pathlib.Path(binary("embd")).parent)
        subprocess.run([sys.executable, PROGRAM, "--binaries", binaries, "--out", folder], timeout=60, check=True)
        cls.pages = {file.name: file.read_text(encoding="utf-8").replace("\\-", "-") for file in folder.iterdir()}

    def assert_names(self, page, words):
        self.assertTrue(words)
        self.assertEqual([word for word in sorted(words) if f"\\fB{word}\\fR" not in page], [])

    def test_the_server_page_names_every_option(self):
        self.assert_names(self.pages["embd.8"], options(help_of("embd")))

    def test_the_command_line_page_names_every_global_option(self):
        self.assert_names(self.pages["embdctl.1"], options(help_of("embdctl")))

    def test_the_command_line_page_names_every_command_and_its_options(self):
        commands = commands_of_embdctl()
        self.assertIn("embed", commands)
        for command in commands:
            with self.subTest(command):
                section = re.search(rf"^\.SS {command}\b.*?(?=^\.S[SH])", self.pages["embdctl.1"], re.M | re.S)
                self.assertIsNotNone(section)
                wanted = options(help_of("embdctl", command)) - {"--help"}
                if wanted:
                    self.assert_names(section[0], wanted)

    def test_the_file_page_names_every_key_of_the_documentation(self):
        table = (SOURCES / "docs" / "configuration.md").read_text(encoding="utf-8")
        keys = set(re.findall(r"^\| `((?:server|models)[^`]*)` \|", table, re.MULTILINE))

        self.assertGreater(len(keys), 50)
        self.assert_names(self.pages["embd.yaml.5"], keys)

    def test_no_mark_is_left(self):
        for name, page in self.pages.items():
            with self.subTest(name):
                self.assertNotRegex(page, r"@[A-Z_]+@")


if __name__ == "__main__":
    unittest.main()
