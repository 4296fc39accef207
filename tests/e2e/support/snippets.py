"""The snippets of docs/clients.md, run against a server."""

import os
import pathlib
import re
import subprocess
import tempfile

_ROOT = pathlib.Path(__file__).resolve().parents[3]
_PAGE = _ROOT / "docs" / "clients.md"
_ADDRESS = "127.0.0.1:8001"
_COMMANDS = {"sh": ["bash", "-euo", "pipefail"], "python": ["/usr/bin/python3"], "js": ["node"]}
_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks_of(section):
    """The (language, text) pairs of the fenced blocks of a section."""
    _, *rest = _SECTION.split(_PAGE.read_text(encoding="utf-8"))
    sections = dict(zip(rest[::2], rest[1::2]))
    return _BLOCK.findall(sections[section])


def programs_of(section):
    """What to run: blocks of one language that follow each other are one program, as a reader would paste them.

    A list of (language, program, expected output).
    """
    programs = []
    for language, text in _blocks_of(section):
        if language == "text":
            name, program, output = programs[-1]
            programs[-1] = (name, program, output + text)
        elif programs and programs[-1][0] == language:
            name, program, output = programs[-1]
            programs[-1] = (name, program + "\n" + text, output)
        else:
            programs.append((language, text, ""))
    return programs


def run_section(section, address, **environment):
    """Runs the snippets of a section in an empty folder beside `proto`.

    Returns a list of (expected output, actual output); raises where a program fails.
    """
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "proto").symlink_to(_ROOT / "proto")
        for language, program, expected in programs_of(section):
            done = subprocess.run(
                _COMMANDS[language],
                input=program.replace(_ADDRESS, address),
                cwd=folder,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode != 0:
                raise AssertionError(f"a snippet of {section} ended with {done.returncode}:\n{done.stderr}")
            outputs.append((expected.strip(), done.stdout.strip()))
    return outputs
