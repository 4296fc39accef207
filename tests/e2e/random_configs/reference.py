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
    "2²⁴": 2**24,
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
        found = re.match(r"([\d.]+)(?: s)? to (2³¹ − 1|2⁶⁴ − 1|2²⁴|[\d.e]+(?: GiB| h| days)?)(?:$|[ ;,])", self.range)
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


def key_at(path):
    """The row of a key of a document; layers of rotary encodings may have any name."""
    general = re.sub(r"\[\d+\]", "[]", path)
    general = re.sub(r"(layer_types)\.[^.]+", r"\1.NAME", general)
    if general not in KEYS:  # a layer's scaling has the keys of that of all layers
        general = general.replace("layer_types.NAME.scaling", "scaling")
    return KEYS.get(general)


def allowed_in(path):
    """The keys of the map at a path of a document; at "" those of the file."""
    if path == "":
        return {"server", "models"}
    general = re.sub(r"(layer_types)\.[^.]+", r"\1.NAME", re.sub(r"\[\d+\]", "[]", path))
    general = general.replace("layer_types.NAME.scaling", "scaling")
    start = general + "."
    return {key.removeprefix(start) for key in KEYS if key.startswith(start) and "." not in key.removeprefix(start)}
