#!/usr/bin/env bash
# coverage.sh BUILD: what the counters of a build with EMBD_COVERAGE say, by folder and in all. In BUILD/report: the
# lines that nothing has reached (uncovered.txt), and pages that show them.
#
# Not counted: lines that end the program or cannot be reached, marked in the source by LCOV_EXCL_LINE, with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly build=$1 report=$1/report
mkdir -p "$report"

gcovr --root . --filter 'server/' --filter 'client/' --filter 'proto/wire/' --exclude '.*/generated.*' \
  --exclude-throw-branches --json "$report/coverage.json" --html-details "$report/index.html" --html-self-contained \
  -j "$(nproc)" "$build" >/dev/null

/usr/bin/python3 - "$report" <<'PY'
import collections
import json
import pathlib
import sys

report = pathlib.Path(sys.argv[1])
files = json.loads((report / "coverage.json").read_text())["files"]
reached, total = collections.Counter(), collections.Counter()
with open(report / "uncovered.txt", "w") as uncovered:
    for file in files:
        folder = "/".join(file["file"].split("/")[:2])
        lines = [line for line in file["lines"] if not line["gcovr/noncode"]]
        missed = [line["line_number"] for line in lines if line["count"] == 0]
        total[folder] += len(lines)
        reached[folder] += len(lines) - len(missed)
        if missed:
            uncovered.write(f"{file['file']}: {len(missed)} of {len(lines)}: {' '.join(map(str, missed))}\n")
for folder in sorted(total):
    print(f"{folder:24} {reached[folder]:6} of {total[folder]:6} lines  {100 * reached[folder] / total[folder]:6.2f} %")
print(f"{'all':24} {sum(reached.values()):6} of {sum(total.values()):6} lines  "
      f"{100 * sum(reached.values()) / sum(total.values()):6.2f} %")
PY
