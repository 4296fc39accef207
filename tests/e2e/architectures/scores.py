"""The table that the test ends with: what each family was asked, and how far the answers lay from the oracle's."""

import collections
import dataclasses


@dataclasses.dataclass
class Score:
    """One family's line."""

    folders: int = 0
    cases: int = 0
    largest_ulp: float = 0.0
    refused: list = dataclasses.field(default_factory=list)


class Scores:
    """Lines by family."""

    def __init__(self):
        self._lines = collections.defaultdict(Score)

    def folder(self, family, name, is_refused):
        line = self._lines[family]
        line.folders += 1
        if is_refused:
            line.refused.append(name)

    def case(self, family, distance=0.0, count=1):
        line = self._lines[family]
        line.cases += count
        line.largest_ulp = max(line.largest_ulp, distance)

    def print(self):
        print(f"\n{'architecture':<18} {'folders':>7} {'cases':>6}   largest difference, ulp")
        for family, line in sorted(self._lines.items()):
            note = f"   refused: {', '.join(line.refused)}" if line.refused else ""
            print(f"{family:<18} {line.folders:>7} {line.cases:>6}   {line.largest_ulp:.3g}{note}")
        lines = self._lines.values()
        folders, cases = sum(line.folders for line in lines), sum(line.cases for line in lines)
        print(f"{len(lines)} architectures, {folders} folders, {cases} cases")
