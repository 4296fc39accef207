"""Text as man(7) source."""

import re

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`([^`]*)`")


def plain(text):
    """Text whose every character stands for itself."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def markdown(text):
    """Markdown of a table's cell: code becomes bold, links their text."""
    parts = _CODE.split(_LINK.sub(r"\1", text))
    return "".join(plain(part) if index % 2 == 0 else f"\\fB{plain(part)}\\fR" for index, part in enumerate(parts))


def tagged(tag, body):
    """An item of a list: a tag that is roff already, and its text."""
    return f".TP\n{tag}\n{body}\n"


def verbatim(lines):
    """Lines as they are."""
    return ".nf\n" + "\n".join(plain(line) for line in lines) + "\n.fi\n"
