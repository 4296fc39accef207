"""What the soak says at its end: a table for people, and the same as JSON."""

import collections
import json

import samples
from tables import MEMORY_LIMIT_MIB

_SHOWN = 10


class Report:
    """All figures; `passed` is the verdict."""

    def __init__(self, soak, sampler, timetables, not_run):
        self._judged = soak.ledger.judged()
        self._broken = soak.ledger.broken
        self._windows = soak.ledger.windows
        self._tallies = {load.name: load.tally for load in soak.loads}
        self._sampler, self._not_run = sampler, not_run
        self._peak_mib = soak.peak_mib
        self._injected = {name: count for table in timetables for name, count in table.injected.items()}
        self._verdicts = sampler.verdicts()
        # Of the victims only what they have printed before they were killed is known.
        self.wrong = [(load, failure) for load, failure, _ in self._judged if "wrong" in failure]
        self.unexpected = [
            (load, failure) for load, failure, excuse in self._judged if excuse is None and "wrong" not in failure
        ]
        self.passed = (
            not self.wrong
            and not self.unexpected
            and not self._broken
            and not sampler.failed_scrapes
            and all(flat is not False for *_, flat in self._verdicts)
            and all(tally is not None for tally in self._tallies.values())
        )

    def errors(self):
        """Failed calls by load, kind, code and what excuses them."""
        return collections.Counter(
            (load, failure["kind"], failure.get("code", "wrong bytes"), failure.get("reason", ""), excuse or "NOTHING")
            for load, failure, excuse in self._judged
        )

    def text(self):
        lines = [f"{'calls':>10}{'failed':>8}{'wrong':>7}  load, kind, model"]
        for load, tally in self._tallies.items():
            for kind in tally["tally"] if tally else []:
                lines.append(
                    f"{kind['calls']:10}{kind['failed']:8}{kind['wrong']:7}  {load}: {kind['kind']}, {kind['model']}"
                )
            if tally:
                total = sum(kind["calls"] for kind in tally["tally"])
                given_up = f"given up: {tally['cancelled']} cancelled, {tally['deadline']} by a deadline"
                lines.append(f"{total:10}{'':15}  {load}: all; {given_up}")
        lines.append(f"{self._sampler.scrapes:10}{len(self._sampler.failed_scrapes):8}{'':7}  metrics scrapes")
        lines.append("\nfailed calls, and what they were to be expected of")
        for key, count in sorted(self.errors().items()):
            lines.append(f"{count:10}  {', '.join(part for part in key if part)}")
        lines.append("\nfaults")
        lines += [f"{count:10}  {name}" for name, count in sorted(self._injected.items())]
        lines += [f"{'not run':>10}  {name}: {reason}" for name, reason in sorted(self._not_run.items())]
        lines.append(f"\ncurves: {samples.RULE}")
        for name, figure, growth, flat in self._verdicts:
            values = self._sampler.curves[name][figure]
            told = {True: "flat", False: "NOT FLAT", None: "too short a time to judge"}[flat]
            lines.append(f"  {name}, {figure}: {_sparse(values)}; {growth:+.1f}: {told}")
        if self._peak_mib is not None:
            lines.append(f"  control group of the server: at most {self._peak_mib} MiB of {MEMORY_LIMIT_MIB}")
        for title, entries in (
            ("WRONG BYTES", self.wrong),
            ("FAILED OUTSIDE OF ALL FAULTS", self.unexpected),
            ("NOT AS IT SHOULD BE", [(entry["fault"], entry["what"]) for entry in self._broken]),
            ("SCRAPES", [("metrics", failure) for failure in self._sampler.failed_scrapes]),
        ):
            if entries:
                lines.append(f"\n{title}: {len(entries)}")
                lines += [f"  {load}: {what}" for load, what in entries[:_SHOWN]]
        lines.append(f"\n{'PASSED' if self.passed else 'FAILED'}")
        return "\n".join(lines)

    def write(self, path):
        errors = [
            dict(zip(("load", "kind", "code", "reason", "excused_by"), key), count=count)
            for key, count in sorted(self.errors().items())
        ]
        content = {
            "passed": self.passed,
            "calls": self._tallies,
            "errors": errors,
            "wrong": self.wrong,
            "failed_outside_of_faults": self.unexpected,
            "broken": self._broken,
            "faults": self._injected,
            "not_run": self._not_run,
            "windows": [vars(window) | {"end": min(window.end, 1e18)} for window in self._windows],
            "rule": samples.RULE,
            "growth": [{"server": n, "figure": f, "growth": g, "flat": flat} for n, f, g, flat in self._verdicts],
            "curves": {"seconds": self._sampler.seconds, **self._sampler.curves},
            "control_group_mib": {"limit": MEMORY_LIMIT_MIB, "peak": self._peak_mib},
            "scrapes": {"calls": self._sampler.scrapes, "failed": self._sampler.failed_scrapes},
        }
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def _sparse(values):
    """A dozen of the values, evenly."""
    step = max(1, len(values) // 12)
    return " ".join(f"{value:g}" for value in values[::step])
