"""The table of keys of docs/configuration.md, as the oracle's word on what a configuration may hold."""

import dataclasses
import pathlib
import re

_PAGE = pathlib.Path(__file__).parents[3] / "docs" / "configuration.md"
_UNITS = {
    "s": 1,
    "h": 3600,
    "days": 86400,
    "GiB": 2**30,
    "2³¹ − 1": 2**31 - 1,
    "2⁶⁴ − 1": 2**64 - 1,
}


@dataclasses.dataclass(frozen=True)
class Key:
    """One row of the table."""

    path: str  # models[].token.seeded.std
    type: str
    range: str

    @property
    def words(self):
        """The words that a string may be, where it may not be any."""
        listed = re.sub(r" \((?!`su`)[^)]*\)", "", self.range.split(";")[0])
        if self.type != "string" or not re.fullmatch(r"`[^`]+`( \(`su`\))?(, `[^`]+`( \(`su`\))?)+", listed):
            return []
        return [word.strip('"') for word in re.findall(r"`([^`]+)`", listed)]

    @property
    def bounds(self):
        """The least and the greatest number that is allowed, and whether the least is itself; None: no bound."""
        if self.type not in ("integer", "number", "byte size", "duration"):
            return None, None, True
        if found := re.match(r"(≥|>) ([\d.]+)", self.range):
            return float(found[2]), None, found[1] == "≥"
        if found := re.match(r"magnitude up to (\S+)", self.range):
            return -float(found[1]), float(found[1]), True
        most = r"2³¹ − 1|2⁶⁴ − 1|[\d.e]+(?: GiB| h| days)?"
        found = re.match(rf"([\d.]+)(?: s)? to ({most})(?:$|[ ;,])", self.range)
        if not found:
            return None, None, True
        return float(found[1]), _number(found[2]), True


def _number(text):
    if text in _UNITS:
        return _UNITS[text]
    digits, _, unit = text.partition(" ")
    return float(digits) * _UNITS.get(unit, 1)


def _read():
    keys = {}
    for line in _PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and re.fullmatch(r"`(server|models)[\w.\[\]]*`", cells[1]):
            path = cells[1].strip("`")
            keys[path] = Key(path, cells[2], cells[4])
    return keys


KEYS = _read()


def row_of(path):
    """A path of a document as the table spells it: models[].token; layers of rotary encodings may have any name."""
    return re.sub(r"(layer_types)\.[^.]+", r"\1.NAME", re.sub(r"\[\d+\]", "[]", path))


def _shared_scaling(row):
    """A layer's scaling has the keys of that of all layers."""
    return row.replace("layer_types.NAME.scaling", "scaling")


def key_at(path):
    """What the table says of a key of a document, or None."""
    row = row_of(path)
    return KEYS.get(row) or KEYS.get(_shared_scaling(row))


def allowed_in(path):
    """The keys of the map at a path of a document; at "" those of the file."""
    if path == "":
        return {"server", "models"}
    start = _shared_scaling(row_of(path)) + "."
    return {key.removeprefix(start) for key in KEYS if key.startswith(start) and "." not in key.removeprefix(start)}
