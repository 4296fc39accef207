"""One server for many model folders."""

import contextlib

from support.server_process import ServerProcess


def configuration(parent, checkpoints):
    """A configuration that names folders and nothing else, but for the side where encoder and decoder differ."""
    lines = ["models:"]
    for checkpoint in checkpoints:
        side = f", side: {checkpoint.side}" if checkpoint.side else ""
        lines.append(f'  - {{ name: "{checkpoint.name}", path: "{parent / checkpoint.name}"{side} }}')
    return "\n".join(lines) + "\n"


class Fleet:
    """A server of all the folders in `parent` that it accepts, for the length of a `with` block.

    `refused` has what the server said of the others: a folder that it names last when it refuses to start is left
    out, so that one run tells of all.
    """

    def __init__(self, parent, checkpoints):
        self._parent, self._checkpoints = parent, checkpoints
        self._stack = contextlib.ExitStack()
        self.refused = {}

    def __enter__(self):
        served = list(self._checkpoints)
        while True:
            server = ServerProcess(config=configuration(self._parent, served))
            try:
                self.address = self._stack.enter_context(server).address
                return self
            except RuntimeError as error:
                last = str(error).strip().rpartition("\n")[2]
                culprit = self._named(served, last)
                if culprit is None:
                    raise
                self.refused[culprit.name] = last
                served.remove(culprit)

    def __exit__(self, *exception):
        return self._stack.__exit__(*exception)

    def _named(self, served, text):
        """The folder whose path a message has; the longest where several do."""
        found = [each for each in served if str(self._parent / each.name) in text or f'"{each.name}"' in text]
        return max(found, key=lambda each: len(each.name), default=None)
