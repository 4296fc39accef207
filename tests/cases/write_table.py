#!/usr/bin/env python3
"""Writes docs/cases.md: of every row of this folder's .yaml files, the tests that show it and how they ended.

`--check` writes nothing. It says what is wrong with the rows, and where the page is not what they say, results aside.
"""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "cases.md"
# A check of ./dev that shows a row where no ctest can, and the script one of whose sentences says so.
CHECKS = {"containers": ROOT / "tests" / "compose.sh"}
COLUMNS = ("row", "where", "symptom", "expected here", "tests", "result")
KEYS = {"row", "from", "where", "what", "expected", "tests", "check"}
HEAD = """# Cases that others have met

Each row is a symptom that was reported of another project, or a test of one, put to embd as a test of its own. The rows are the
files of [tests/cases](../tests/cases); `./dev cases` runs the tests that they name and writes this page, with the results.
"""


def load(folder=HERE):
    """The .yaml files of the folder in order of name, as (name, content)."""
    return [(path.name, yaml.safe_load(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.yaml"))]


def cases_of(files):
    for name, content in files:
        for case in content["cases"]:
            yield f"{name}, row {case.get('row', '?')}", case


def plain(name):
    """The name of a test without the value of its parameter, which GoogleTest's listing puts behind."""
    return name.partition("  # GetParam()")[0]


def tests_of(build, ctest):
    """Names of all tests of a build folder, in the order in which ctest numbers them."""
    # From a folder of its own: ctest begins a log wherever it runs, and may be running in the build folder now.
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "CTestTestfile.cmake").write_text(f'subdirs("{pathlib.Path(build).resolve()}")\n')
        command = [ctest, "--test-dir", folder, "--show-only=json-v1"]
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return [plain(test["name"]) for test in json.loads(listed)["tests"]]


def matching(pattern, names):
    """The names that a test of a row stands for: one, or all cases of a parametrised one."""
    return [name for name in names if name == pattern or fnmatch.fnmatchcase(name, pattern)]


def sentence_of(case):
    """(name, sentence) of the check that shows a case, or None."""
    return next(iter(case["check"].items())) if "check" in case else None


def faults(files, names):
    found = []
    seen = set()
    for place, case in cases_of(files):
        missing = {"row", "what", "expected"} - case.keys()
        unknown = case.keys() - KEYS
        if missing or unknown:
            found.append(f"{place}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        if place in seen:
            found.append(f"{place}: stands there twice")
        seen.add(place)
        if not case.get("tests") and not case.get("check"):
            found.append(f"{place}: has no test")
        found += [f"{place}: there is no test {test}" for test in case.get("tests", []) if not matching(test, names)]
        if (check := sentence_of(case)) is not None:
            name, sentence = check
            if name not in CHECKS or sentence not in CHECKS[name].read_text(encoding="utf-8"):
                found.append(f"{place}: ./dev check {name} does not say \"{sentence}\"")
    return found


def outcomes_of(junit):
    """Of every test that a run chose: None where it passed, else what became of it."""
    outcomes = {}
    for test in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        status = test.get("status")
        outcome = None if status == "run" else "failed"
        if status in ("notrun", "disabled"):
            said = (test.findtext("system-out") or "").strip().splitlines()
            reason = test.find("skipped")
            outcome = "not run: " + (said[-1] if said else reason.get("message") if reason is not None else status)
        outcomes[plain(test.get("name"))] = outcome
    return outcomes


def result_of(case, names, outcomes):
    """What the last column says of a case."""
    parts = []
    tests = {name for test in case.get("tests", []) for name in matching(test, names)}
    if tests:
        ended = {name: outcomes.get(name, "not run") for name in sorted(tests)}
        parts.append(f"passed {sum(outcome is None for outcome in ended.values())} of {len(ended)}")
        parts += [f"{name}: {outcome}" for name, outcome in ended.items() if outcome is not None]
    if (check := sentence_of(case)) is not None:
        parts.append(f"by `./dev check {check[0]}`")
    return "<br>".join(parts)


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def row_of(case, result):
    where = " ".join(str(case[key]) for key in ("from", "where") if key in case)
    tests = [f"`{test}`" for test in case.get("tests", [])]
    if (check := sentence_of(case)) is not None:
        tests.append(f"{CHECKS[check[0]].relative_to(ROOT)}: \"{check[1]}\"")
    columns = (case["row"], where, case["what"], case["expected"], "<br>".join(tests), result)
    return "| " + " | ".join(cell(column) for column in columns) + " |"


def page_of(files, result):
    """The page as lines. result(case) is what its last column says of a case."""
    lines = HEAD.splitlines()
    for _, content in files:
        lines += ["", f"## {content['title']}", "", *content["intro"].strip().splitlines(), ""]
        lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        lines += [row_of(case, result(case)) for case in content["cases"]]
    return lines


def without_result(line):
    """A line of the page without what may differ from run to run."""
    if not line.startswith("| "):
        return line
    return line.removesuffix(" |").rpartition(" | ")[0]


def stale_lines(files, page):
    """The lines that the page should have or should not have."""
    wanted = [without_result(line) for line in page_of(files, lambda case: "")]
    there = [without_result(line) for line in page.splitlines()]
    if wanted == there:
        return []
    found = [f"lacks: {line}" for line in wanted if line not in there]
    found += [f"has no longer to say: {line}" for line in there if line not in wanted]
    return found or ["has its lines in another order"]


def check(files, names):
    found = faults(files, names)
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found += [f"{PAGE.relative_to(ROOT)} {line}" for line in stale_lines(files, page)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build folder whose tests are meant")
    parser.add_argument("--ctest", default="ctest")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--numbers", metavar="FILE", help="writes the numbers of the tests named, for ctest -I")
    what.add_argument("--junit", metavar="FILE", help="writes the page, with the results of this run")
    arguments = parser.parse_args()
    files = load()
    names = tests_of(arguments.build, arguments.ctest)
    found = check(files, names) if arguments.check else faults(files, names)
    for fault in found:
        print(f"cases: {fault}", file=sys.stderr)
    if found:
        if arguments.check:
            print("cases: `./dev cases` writes the page anew", file=sys.stderr)
        return 1
    if arguments.numbers:
        chosen = {name for _, case in cases_of(files) for test in case.get("tests", []) for name in matching(test, names)}
        numbers = [str(number) for number, name in enumerate(names, start=1) if name in chosen]
        # Without the end of the line ctest leaves out the last number.
        pathlib.Path(arguments.numbers).write_text(",".join(["0", "0", "0", *numbers]) + "\n", encoding="ascii")
    if arguments.junit:
        outcomes = outcomes_of(arguments.junit)
        page = page_of(files, lambda case: result_of(case, names, outcomes))
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
