"""The table of keys in docs/configuration.md."""

import dataclasses
import pathlib

_FILE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "configuration.md"
_HEAD = "| key | type | default | range | meaning |"


@dataclasses.dataclass(frozen=True)
class Key:
    name: str
    kind: str
    default: str
    allowed: str
    meaning: str


def keys():
    """All keys, in the order of the table; the text of cells is Markdown."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines[lines.index(_HEAD) + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split(" |"))
        found.append(Key(name.strip("` "), *cells))
    return found
