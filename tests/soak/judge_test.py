"""The soak's judging finds what is wrong: each case is one that must not pass, beside the one that must."""

import pathlib
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "e2e"), str(pathlib.Path(__file__).resolve().parent)]

import samples  # noqa: E402
from faults.fault import eventually  # noqa: E402
from load import MixedLoad  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402
from tables import Tables  # noqa: E402
from windows import Ledger  # noqa: E402

FAILURE = {"kind": "Embed", "model": "m", "begin": 10.0, "end": 11.0, "given_up": "",
           "code": "UNAVAILABLE", "reason": "R"}


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


class MixedLoadTest(unittest.TestCase):
    """Of servers that serve something else than the reference does."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="embd-soak-")))
        reference = Tables(self.folder / "reference", "a")
        self.reference = f"unix:{self.folder}/a.sock"
        self.enterContext(ServerProcess("--config", str(reference.config), "--listen", self.reference))

    def failures_at(self, tables, damage=lambda: None):
        """The failures of some hundred calls of a server of these tables, by model."""
        ledger = Ledger()
        with ServerProcess("--config", str(tables.config)) as server:
            damage()
            with MixedLoad("load", ledger, server.address, [self.reference], rate=300) as load:
                self.assertTrue(eventually(lambda: load.calls > 200))
                load.stop()
        return {failure["model"]: failure["wrong"] for _, failure, _ in ledger.judged()}, load.tally["tally"]

    def test_equal_tables_show_no_difference(self):
        failures, tally = self.failures_at(Tables(self.folder / "equal", "a"))

        self.assertEqual(failures, {})
        self.assertGreater(sum(kind["calls"] for kind in tally), 200)

    def test_tables_that_there_are_none_of_are_found(self):
        failures, _ = self.failures_at(Tables(self.folder / "other", "b"))

        self.assertEqual(set(failures), {"flip", "flip-mapped", "flip, seeded"})

    def test_a_changed_byte_is_found(self):
        tables = Tables(self.folder / "changed", "a")

        def change_row():
            with open(tables.mapped, "r+b") as file:
                file.seek(128 + 4 * 128 * 3)  # behind the header; the mapping shows it, the checksum stays
                file.write(b"\x7f")

        failures, _ = self.failures_at(tables, change_row)

        self.assertEqual(set(failures), {"mapped"})
        self.assertIn("differs from byte 0 ", failures["mapped"])


if __name__ == "__main__":
    unittest.main()
