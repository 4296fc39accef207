#!/usr/bin/python3
"""embd beside what people would use instead, and beside what nothing can beat: `./dev bench`.

Starts every server with the same model, loads them in turn, in rounds of random order, and prints medians over the
rounds and medians of the rounds' ratios. Absolute figures change with the machine's mood; ratios of one round hardly do.
Every server's first reply is compared with numpy's result, bit for bit, before anything is timed.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from comparison import chart, measure, report, scenarios, servers

CHARTED = ("1x1-8", "1x128", "8x512")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [case.name for case in scenarios.CASES]
    parser.add_argument("--only", action="append", choices=names, metavar="CASE", help=f"one of {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("--quick", action="store_true", help="three rounds of 0.1 s, and fewer callers")
    parser.add_argument("--binaries", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--out", type=pathlib.Path, help="folder for bench.md, bench.json and bench.svg")
    parser.add_argument("--document", type=pathlib.Path, help="put tables and chart into this document, docs/performance.md")
    return parser.parse_args()


def machine():
    """Where, when and of what the figures are, in one line."""
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    git = ["git", "-C", os.path.dirname(os.path.abspath(__file__))]
    commit = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False).stdout
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False).stdout
    return (
        f"{cpu}, {os.cpu_count()} cores, Linux {platform.release()}; {time.strftime('%Y-%m-%d')}; "
        f"commit {commit.strip() or 'unknown'}{' with changes' if changed else ''}; "
        f"V {servers.VOCAB}, D {servers.DIM}, L {servers.LENGTH}, float32"
    )


def write(folder, text, results, claims, svg):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.md").write_text(text)
    (folder / "bench.svg").write_text(svg)
    (folder / "bench.json").write_text(json.dumps({"results": results, "claims": claims}, indent=1))


def update(document, text, svg):
    """Puts what was measured in place of what stands between the document's marks, and the chart beside it."""
    before, _, rest = document.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        sys.exit(f"{document} has not both marks, {BEGIN} and {END}")
    document.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    document.with_suffix(".svg").write_text(svg)


def choose_cases(options):
    cases = [case for case in scenarios.CASES if not options.only or case.name in options.only]
    if options.quick and not options.only:
        cases = [case for case in cases if case.callers == 1 or case.name == "1x1-8"]
    return cases


def measure_all(options, cases):
    """The figures of each case, why servers did not run, and what went wrong, which spoils only its own case."""
    results, failures = {}, []
    needed = sorted({line.server for case in cases for line in case.lines})
    with tempfile.TemporaryDirectory(prefix="embd-bench-") as name:
        with servers.Servers(options.binaries, pathlib.Path(name), needed) as running:
            meter = measure.Meter(running, options.seconds, min(0.1, options.seconds / 2))
            for case in cases:
                print(f"measuring {case.title}", file=sys.stderr, flush=True)
                try:
                    results[case.name] = meter.run(case, options.rounds)
                except RuntimeError as error:
                    failures.append(str(error))
            return results, running.not_run, failures


def main():
    options = read_arguments()
    if options.quick:
        options.rounds, options.seconds = 3, 0.1
    cases = choose_cases(options)
    results, not_run, failures = measure_all(options, cases)
    claims = list(report.claim_rows(scenarios.CLAIMS, cases, results))
    text = report.document(machine(), cases, results, claims, not_run)
    print(text)
    for server, reason in not_run.items():
        print(f"NOT RUN: {server}: {reason}")
    svg = chart.chart([case for case in cases if case.name in CHARTED], results)
    if options.out:
        write(options.out, text, results, claims, svg)
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    if failures:
        return 1
    if options.document:
        update(options.document, text, svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
