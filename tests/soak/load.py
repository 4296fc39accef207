"""A `mixed_load` process, and what it says."""

import json
import subprocess
import threading
import time

from support.server_process import binary, clean_environment

START_SECONDS = 120
WAIT_SECONDS = 120


class MixedLoad:
    """Calls from the start of a `with` block to `stop`; failures go to the ledger under the load's name."""

    def __init__(self, name, ledger, server, references, prefix=(), **options):
        self.name, self._ledger = name, ledger
        command = [*prefix, binary("mixed_load"), "--server", server]
        for reference in references:
            command += ["--reference", reference]
        for option, value in options.items():
            command += [f"--{option.replace('_', '-')}", str(value)]
        self._command = command
        self._changed = threading.Condition()
        self._going, self.calls, self.ok = False, 0, 0
        self.tally = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        with self._changed:
            if not self._changed.wait_for(lambda: self._going or self._ended(), START_SECONDS) or not self._going:
                self.kill()
                raise RuntimeError(f"{self.name}: the callers get no first answer")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def kill(self):
        """SIGKILL in the midst of its calls."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the calls; the tally is there then."""
        self.process.stdin.close()
        self.process.wait(timeout=WAIT_SECONDS)
        self._reader.join()

    def await_answers(self, count, seconds=WAIT_SECONDS):
        """Returns whether so many more calls are answered well within the time."""
        with self._changed:
            end = self.ok + count
            return self._changed.wait_for(lambda: self.ok >= end or self._ended(), seconds) and self.ok >= end

    def run_for(self, seconds):
        """Lets it call for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self._ended():
            time.sleep(min(left, 0.5))

    def _ended(self):
        return self.process.poll() is not None

    def _read(self):
        for text in self.process.stdout:
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                continue  # the last line of a process that was killed
            if "failure" in line:
                self._ledger.add_failure(self.name, line["failure"])
                continue
            with self._changed:
                self._going = self._going or "going" in line
                if "progress" in line:
                    self.calls, self.ok = line["calls"], line["ok"]
                elif "tally" in line:
                    self.tally = line
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()
