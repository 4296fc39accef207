"""The soak's judging finds what is wrong: each case is one that must not pass, beside the one that must."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "e2e"), str(pathlib.Path(__file__).resolve().parent)]

import samples  # noqa: E402
from windows import Ledger  # noqa: E402

FAILURE = {"kind": "Embed", "model": "m", "begin": 10.0, "end": 11.0, "given_up": "", "code": "UNAVAILABLE", "reason": "R"}


def excuse(failure, load="server", codes=("UNAVAILABLE",), **window):
    """What a ledger says of one failure beside one window, from 5 to 9 unless said, without grace."""
    ledger = Ledger()
    ledger.window("fault", "server", codes, **{"begin": 5.0, "end": 9.0, "grace": 2, **window})
    ledger.add_failure(load, {**FAILURE, **failure})
    return ledger.judged()[0][2]


class WindowTest(unittest.TestCase):
    def test_a_failure_in_a_window_is_excused(self):
        self.assertEqual(excuse({}), "fault")
        self.assertEqual(excuse({"begin": 1.0, "end": 6.0}), "fault")
        self.assertEqual(excuse({}, codes=("UNAVAILABLE/R",)), "fault")
        self.assertEqual(excuse({"model": "x, m"}, models=("m",)), "fault")

    def test_a_failure_before_or_after_it_is_not(self):
        self.assertIsNone(excuse({"begin": 1.0, "end": 4.9}))
        self.assertIsNone(excuse({"begin": 11.1, "end": 12.0}))

    def test_a_failure_with_another_code_reason_model_or_load_is_not(self):
        self.assertIsNone(excuse({"code": "INTERNAL"}))
        self.assertIsNone(excuse({"reason": "S"}, codes=("UNAVAILABLE/R",)))
        self.assertIsNone(excuse({}, models=("n",)))
        self.assertIsNone(excuse({}, load="replicas"))

    def test_a_call_that_was_given_up_may_end_so_and_in_no_other_way(self):
        self.assertEqual(excuse({"given_up": "cancelled", "code": "CANCELLED"}, codes=()), "given up by its caller")
        self.assertIsNone(excuse({"given_up": "cancelled", "code": "INTERNAL"}, codes=()))
        self.assertIsNone(excuse({"code": "CANCELLED"}, codes=()))

    def test_wrong_bytes_are_never_excused(self):
        self.assertIsNone(excuse({"wrong": "answer 0 differs", "given_up": "deadline"}))


class GrowthTest(unittest.TestCase):
    def test_a_leak_shows_and_a_plateau_does_not(self):
        self.assertAlmostEqual(samples.growth([50 + 0.1 * i for i in range(300)]), 0.1 * 200 * 5 / 6, delta=0.5)
        self.assertEqual(samples.growth([10 * i for i in range(100)] + [1000] * 200), 0)

    def test_a_single_peak_does_not_count(self):
        self.assertEqual(samples.growth([50] * 290 + [500] + [50] * 9), 0)


if __name__ == "__main__":
    unittest.main()
