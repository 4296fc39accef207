"""make_pages.py --binaries FOLDER --out FOLDER: writes the man pages.

The text is that of the *.in files; in them @OPTIONS@, @COMMANDS@ and @KEYS@ stand for what the programs print as their
help and for the table of keys in docs/configuration.md.
"""

import argparse
import pathlib
import re

import help_text
import key_table
import roff

_HERE = pathlib.Path(__file__).resolve().parent


def _options(items):
    lines = []
    for item in items:
        names = ", ".join(f"\\fB{roff.plain(name)}\\fR" for name in item.names.split(","))
        lines.append(roff.tagged(f"{names} {roff.plain(item.value)}".strip(), roff.plain(item.text) + "."))
    return "".join(lines)


def _command(program, name):
    parsed = help_text.parse(help_text.printed_by(program, name))
    usage = re.sub(r"^embdctl ", "", parsed.usage)
    page = f".SS {roff.plain(usage)}\n{roff.plain(parsed.about)}.\n{_options(parsed.positionals + parsed.options[1:])}"
    return page + (".PP\n" + roff.verbatim(parsed.footer) if parsed.footer else "")


def _commands(program):
    names = [item.names for item in help_text.parse(help_text.printed_by(program)).commands]
    return "".join(_command(program, name) for name in names if name != "help")


def _keys():
    lines = []
    for key in key_table.keys():
        about = [key.kind] + ([f"default {key.default}"] if key.default else []) + ([key.allowed] if key.allowed else [])
        about = roff.markdown("; ".join(about))
        meaning = roff.markdown(key.meaning)
        lines.append(roff.tagged(f"\\fB{roff.plain(key.name)}\\fR ({about})", f"{meaning[:1].upper()}{meaning[1:]}."))
    return "".join(lines)


def pages(binaries):
    """The pages' sources, by the name of their files."""
    server, ctl = binaries / "embd", binaries / "embdctl"
    filled = {
        "@SERVER_OPTIONS@": _options(help_text.parse(help_text.printed_by(server)).options),
        "@CTL_OPTIONS@": _options(help_text.parse(help_text.printed_by(ctl)).options),
        "@COMMANDS@": _commands(ctl),
        "@KEYS@": _keys(),
    }
    made = {}
    for source in sorted(_HERE.glob("*.in")):
        text = source.read_text(encoding="utf-8")
        for mark, content in filled.items():
            text = text.replace(mark + "\n", content)
        made[source.stem] = text
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, text in pages(arguments.binaries).items():
        (arguments.out / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
