"""The table of cases: what is wrong is found, and results come from the run."""

import pathlib
import tempfile
import unittest

import write_table

NAMES = ["A.One", "B.Two/x", "B.Two/y", "e2e.three"]
JUNIT = """<testsuite>
  <testcase name="A.One" status="run"/>
  <testcase name="B.Two/x  # GetParam() = 7" status="run"/>
  <testcase name="B.Two/y" status="fail"><failure message=""/></testcase>
  <testcase name="e2e.three" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>NOT RUN: npm is not installed</system-out></testcase>
</testsuite>"""


def case(**fields):
    good = {"row": 1, "where": "a/b#1", "what": "it | breaks", "expected": "it holds", "tests": ["A.One"]}
    return {**good, **fields}


def files(*cases):
    return [("some.yaml", {"title": "Some", "intro": "Of some.", "cases": list(cases)})]


class FaultsTest(unittest.TestCase):
    def assert_fault(self, text, *cases):
        (fault,) = write_table.faults(files(*cases), NAMES)
        self.assertIn(text, fault)

    def test_good_cases_have_none(self):
        good = (case(), case(row=2, tests=["B.Two/*"]), case(row="three", **{"from": "numpy"}))

        self.assertEqual(write_table.faults(files(*good), NAMES), [])

    def test_test_that_does_not_exist_is_named(self):
        self.assert_fault("there is no test A.Tw", case(tests=["A.One", "A.Tw"]))
        self.assert_fault("there is no test C.*", case(tests=["C.*"]))

    def test_case_without_a_test_is_named(self):
        self.assert_fault("some.yaml, row 1: has no test", case(tests=[]))

    def test_row_that_stands_twice_is_named(self):
        self.assert_fault("some.yaml, row 1: stands there twice", case(), case())

    def test_keys_are_checked(self):
        self.assert_fault("unknown ['test']", case(test="A.One"))

    def test_sentence_that_the_check_does_not_say_is_named(self):
        self.assert_fault("does not say", case(check={"containers": "all is well, and nobody said so"}))
        self.assert_fault("does not say", case(check={"nothing": "x"}))


class PageTest(unittest.TestCase):
    def page(self, *cases):
        with tempfile.TemporaryDirectory() as folder:
            junit = pathlib.Path(folder) / "junit.xml"
            junit.write_text(JUNIT, encoding="utf-8")
            outcomes = write_table.outcomes_of(junit)
        return write_table.page_of(files(*cases), lambda each: write_table.result_of(each, NAMES, outcomes))

    def test_results_are_those_of_the_run(self):
        self.assertIn("| 1 | a/b#1 | it \\| breaks | it holds | `A.One` | passed 1 of 1 |", self.page(case()))
        self.assertIn("| passed 1 of 2<br>B.Two/y: failed |", self.page(case(tests=["B.Two/*"]))[-1])
        self.assertIn("| passed 0 of 1<br>e2e.three: not run: NOT RUN: npm is not installed |",
                      self.page(case(tests=["e2e.three"]))[-1])

    def test_what_a_run_left_out_is_not_run(self):
        line = write_table.row_of(case(), write_table.result_of(case(), NAMES, {}))

        self.assertTrue(line.endswith("| passed 0 of 1<br>A.One: not run |"), line)

    def test_only_results_may_differ_from_the_page(self):
        page = "\n".join(self.page(case(), case(row=2))) + "\n"

        self.assertEqual(write_table.stale_lines(files(case(), case(row=2)), page.replace("passed 1 of 1", "")), [])
        self.assertEqual(len(write_table.stale_lines(files(case(), case(row=2, what="other")), page)), 2)
        self.assertEqual(len(write_table.stale_lines(files(case()), page)), 1)


if __name__ == "__main__":
    unittest.main()
