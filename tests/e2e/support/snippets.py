"""The snippets of docs/clients.md, docs/triton.md and README.md, run against a server."""

import os
import pathlib
import re
import subprocess
import tempfile

_ROOT = pathlib.Path(__file__).resolve().parents[3]
_CLIENTS = _ROOT / "docs" / "clients.md"
TRITON = _ROOT / "docs" / "triton.md"
_README = _ROOT / "README.md"
_ADDRESS = "127.0.0.1:8001"
_COMMANDS = {"sh": ["bash", "-euo", "pipefail"], "python": ["/usr/bin/python3"], "js": ["node"]}
_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks_of(section, page=_CLIENTS):
    """The (language, text) pairs of the fenced blocks of a section."""
    _, *rest = _SECTION.split(page.read_text(encoding="utf-8"))
    sections = dict(zip(rest[::2], rest[1::2]))
    return _BLOCK.findall(sections[section])


def programs_of(section, page=_CLIENTS):
    """What to run: blocks of one language that follow each other are one program, as a reader would paste them.

    A list of (language, program, expected output).
    """
    programs = []
    for language, text in _blocks_of(section, page):
        if language == "text":
            name, program, output = programs[-1]
            programs[-1] = (name, program, output + text)
        elif programs and programs[-1][0] == language:
            name, program, output = programs[-1]
            programs[-1] = (name, program + "\n" + text, output)
        else:
            programs.append((language, text, ""))
    return programs


def readme_program():
    """README's Python snippet, behind the page that it sends its reader to for what stands before it."""
    blocks = dict(_blocks_of("Use", _README))
    programs = programs_of("Python")
    language, program, output = programs[-1]
    return programs[:-1] + [(language, program + "\n" + blocks["python"], output + blocks["text"])]


def run_section(section, address, page=_CLIENTS, **environment):
    """Runs the snippets of a section of a page."""
    return run_programs(programs_of(section, page), address, **environment)


def run_programs(programs, address, **environment):
    """Runs programs in an empty folder beside `proto`.

    Returns a list of (expected output, actual output); raises where a program fails.
    """
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "proto").symlink_to(_ROOT / "proto")
        for language, program, expected in programs:
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
                raise AssertionError(f"a snippet ended with {done.returncode}:\n{done.stderr}")
            outputs.append((expected.strip(), done.stdout.strip()))
    return outputs
