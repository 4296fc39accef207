"""Runs the snippets of docs/clients.md against a server and compares what they print with what the page says."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from support.node_modules import node_modules
from support.server_process import ServerProcess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "clients.md"
ADDRESS = "127.0.0.1:8001"
COMMANDS = {"sh": ["bash", "-euo", "pipefail"], "python": ["/usr/bin/python3"], "js": ["node"]}
_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(section):
    """The (language, text) pairs of the fenced blocks of a section."""
    title, *rest = _SECTION.split(PAGE.read_text(encoding="utf-8"))
    sections = dict(zip(rest[::2], rest[1::2]))
    return _BLOCK.findall(sections[section])


def programs_of(section):
    """What to run: blocks of one language that follow each other are one program, as a reader would paste them.

    A list of (language, program, expected output).
    """
    programs = []
    for language, text in blocks_of(section):
        if language == "text":
            name, program, output = programs[-1]
            programs[-1] = (name, program, output + text)
        elif programs and programs[-1][0] == language:
            name, program, output = programs[-1]
            programs[-1] = (name, program + "\n" + text, output)
        else:
            programs.append((language, text, ""))
    return programs


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ServerProcess())

    def run_section(self, section, **environment):
        programs = programs_of(section)
        self.assertTrue(programs, f"no snippets in {section}")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "proto").symlink_to(ROOT / "proto")
            for language, program, expected in programs:
                done = subprocess.run(
                    COMMANDS[language],
                    input=program.replace(ADDRESS, self.server.address),
                    cwd=folder,
                    env={**os.environ, **environment},
                    capture_output=True,
                    text=True,
                    timeout=120,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.strip(), expected.strip())

    def test_python(self):
        self.run_section("Python")

    def test_node(self):
        self.run_section("Node", NODE_PATH=str(node_modules()))

    def test_buf(self):
        self.run_section("buf curl", PATH=f"{node_modules() / '.bin'}:{os.environ['PATH']}")


if __name__ == "__main__":
    unittest.main()
