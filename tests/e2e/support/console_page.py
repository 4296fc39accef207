"""Pages with ```console blocks: lines behind "$ " are commands, what follows is what they print."""

import dataclasses
import os
import pathlib
import re
import subprocess

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Step:
    command: str
    printed: str  # to standard output and standard error, as the page says


def steps_of(page):
    """The steps of a page's text, in their order."""
    return [Step(*found) for block in _BLOCK.findall(page) for found in _COMMAND.findall(block)]


def run(steps, folder, binaries, address):
    """What each command really prints, run by bash in `folder` with the programs of `binaries`."""
    environment = {
        **os.environ,
        "PATH": f"{pathlib.Path(binaries).resolve()}:{os.environ['PATH']}",
        "EMBDCTL_SERVER": address,
    }
    return [
        subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        ).stdout
        for step in steps
    ]


def with_outputs(page, outputs):
    """The page's text with these outputs, one a step."""
    left = iter(outputs)

    def block(found):
        return "```console\n" + _COMMAND.sub(lambda step: f"$ {step[1]}\n{next(left)}", found[1]) + "```"

    return _BLOCK.sub(block, page)
