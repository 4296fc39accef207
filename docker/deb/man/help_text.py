"""The help of the programs, taken apart: what `--help` prints of options and commands."""

import dataclasses
import re
import subprocess

_DESCRIPTION_COLUMN = 30
_SECTIONS = ("Positionals:", "Options:", "Subcommands:")
_CONDITION = re.compile(r" (Excludes|Needs):((?: --[a-z-]+)+)")
_VARIABLE = re.compile(r" \(Env:([A-Z_]+)\)")


@dataclasses.dataclass(frozen=True)
class Item:
    """An option (`names` such as -h,--help), a positional or a command."""

    names: str
    value: str  # what stands behind it, such as FORMAT:{text,json}=text; may be empty
    text: str


@dataclasses.dataclass(frozen=True)
class Help:
    about: str
    usage: str
    positionals: list
    options: list
    commands: list
    footer: list  # lines


def _item(head, text):
    for kind, names in _CONDITION.findall(head):
        listed = ", ".join(names.split())
        text += f". Not with {listed}" if kind == "Excludes" else f". Only with {listed}"
    for variable in _VARIABLE.findall(head):
        text += f". Variable: {variable}"
    names, _, value = _VARIABLE.sub("", _CONDITION.sub("", head)).strip().partition(" ")
    return Item(names, value.strip(), text.strip())


def _items(lines):
    items = []
    while lines and lines[0].startswith("  "):
        line = lines.pop(0)
        if lines and lines[0].startswith(" " * _DESCRIPTION_COLUMN):
            items.append(_item(line, lines.pop(0)))
        else:
            items.append(_item(line[:_DESCRIPTION_COLUMN], line[_DESCRIPTION_COLUMN:]))
    return items


def parse(text):
    """The parts of one help."""
    lines = text.splitlines()
    about, usage = lines.pop(0), lines.pop(0).removeprefix("Usage: ")
    sections = {name: [] for name in _SECTIONS}
    while lines and (not lines[0] or lines[0] in sections):
        title = lines.pop(0)
        if title:
            sections[title] = _items(lines)
        elif lines and lines[0] not in sections:
            break
    return Help(about, usage, *(sections[name] for name in _SECTIONS), footer=lines)


def printed_by(program, *command):
    """What `PROGRAM COMMAND --help` prints."""
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout
