"""What compare.py makes of figures: ratios, claims, lines that did not run, the chart, the document."""

import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import compare
from comparison import chart, report, scenarios

FIGURES = (
    *("calls_per_second", "megabytes_per_second", "median_us", "p99_us"),
    *("server_cpu_us", "client_cpu_us", "server_peak_bytes"),
)
FAST = scenarios.Line("fast", "embd")
SLOW = scenarios.Line("slow", "torch")
CASE = scenarios.Case("case", 1, 2, 8, (FAST, SLOW))


def rounds(*values):
    """Rounds in which every figure has one value."""
    return [dict.fromkeys(FIGURES, value) for value in values]


def claim(target, at_most=False):
    return scenarios.Claim("case", "fast against slow", FAST, SLOW, target, at_most=at_most)


class ClaimsTest(unittest.TestCase):
    def rows(self, *claims, slow=(1, 10, 100)):
        results = {"case": {"fast": rounds(2, 50, 300), "slow": rounds(*slow)}}
        return list(report.claim_rows(claims, [CASE], results))

    def test_ratio_is_the_median_of_the_rounds_ratios(self):
        (row,) = self.rows(claim(1))

        self.assertEqual((row["median"], row["least"], row["most"]), (3, 2, 5))

    def test_at_least_is_reached_from_the_target_on(self):
        self.assertEqual([row["reached"] for row in self.rows(claim(3), claim(3.1))], [True, False])

    def test_at_most_is_reached_up_to_the_target(self):
        rows = self.rows(claim(3, at_most=True), claim(2.9, at_most=True))

        self.assertEqual([row["reached"] for row in rows], [True, False])

    def test_claim_of_a_line_that_was_not_measured_is_left_out(self):
        self.assertEqual(list(report.claim_rows([claim(1)], [CASE], {"case": {"fast": rounds(1)}})), [])


class TableTest(unittest.TestCase):
    def test_line_that_did_not_run_says_why(self):
        text = report.table(CASE, {"fast": rounds(1)}, {"torch": "torch is not installed"})

        self.assertIn("| slow | NOT RUN: torch is not installed |", text)

    def test_ratio_is_that_to_the_first_line(self):
        text = report.table(CASE, {"fast": rounds(4), "slow": rounds(1)}, {})

        self.assertEqual([line.split("|")[-2].strip() for line in text.splitlines()[2:]], ["1.00", "0.25"])


class ScenariosTest(unittest.TestCase):
    def test_claims_are_about_lines_of_their_case(self):
        lines = {case.name: case.lines for case in scenarios.CASES}

        for each in scenarios.CLAIMS:
            with self.subTest(each.case, what=each.what):
                self.assertIn(each.line, lines[each.case])
                self.assertIn(each.against, lines[each.case])


class ChartTest(unittest.TestCase):
    def test_bars_are_as_long_as_the_figures_say(self):
        svg = chart.chart([CASE], {"case": {"fast": rounds(100), "slow": rounds(25)}})

        bars = xml.etree.ElementTree.fromstring(svg).findall("{http://www.w3.org/2000/svg}rect")[1:]
        fast, slow = (float(bar.get("width")) for bar in bars)
        self.assertAlmostEqual(slow / fast, 0.25, places=3)


class DocumentTest(unittest.TestCase):
    def test_only_what_stands_between_the_marks_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(f"before\n{compare.BEGIN}\nold\n{compare.END}\nafter\n")

            compare.update(path, "new", "<svg/>")

            self.assertEqual(path.read_text(), f"before\n{compare.BEGIN}\n\nnew\n{compare.END}\nafter\n")
            self.assertEqual(path.with_suffix(".svg").read_text(), "<svg/>")


if __name__ == "__main__":
    unittest.main()
