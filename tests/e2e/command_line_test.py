"""embdctl against a live server, its files written and read by numpy."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
from support.server_process import ServerProcess, binary, clean_environment


class CommandLineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ServerProcess()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_embdctl(self, command, *arguments):
        return subprocess.run(
            [binary("embdctl"), "--server", self.server.address, command, "demo-learned", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=clean_environment(),
        )

    def embed(self, *arguments):
        out = self.folder / "out.npy"
        done = self.run_embdctl("embed", *arguments, "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(out)

    def verify(self, array, *arguments):
        path = self.folder / "expected.npy"
        np.save(path, array)
        done = self.run_embdctl("verify", "--against", str(path), "--output", "json", *arguments)
        return done.returncode, json.loads(done.stdout)

    def test_ragged_rows_are_those_of_calls_of_their_own(self):
        first, second = self.embed("--ids", "1 2 3"), self.embed("--ids", "4 5")

        packed = self.embed("--ids", "1 2 3;; 4 5", "--ragged", "packed")
        padded = self.embed("--ids", "1 2 3;; 4 5", "--ragged", "padded", "--padding-side", "left")

        np.testing.assert_array_equal(packed, np.concatenate([first[0], second[0]]))
        np.testing.assert_array_equal(padded[0], first[0])
        np.testing.assert_array_equal(padded[1], np.zeros((3, 64), np.float32))
        np.testing.assert_array_equal(padded[2], np.concatenate([np.zeros((1, 64), np.float32), second[0]]))

    def test_chunks_change_the_call_and_not_the_result(self):
        ids = " ".join(str(i % 320) for i in range(128)) + ";"
        with ServerProcess("--log-level", "debug") as server:
            self.server = server
            results = {when: self.embed("--ids", ids * 20, "--chunks", when) for when in ("always", "never", "auto")}
            log = server.log()

        np.testing.assert_array_equal(results["always"], results["never"])
        np.testing.assert_array_equal(results["auto"], results["never"])
        self.assertEqual(log.count("EmbedChunks"), 2)

    def test_a_mask_numbers_left_padded_rows(self):
        ids = self.folder / "ids.npy"
        mask = self.folder / "mask.npy"
        np.save(ids, np.array([[0, 0, 7, 8], [1, 2, 3, 4]]))
        np.save(mask, np.array([[0, 0, 1, 1], [1, 1, 1, 1]], np.uint8))

        masked = self.embed("--ids-file", str(ids), "--mask", f"@{mask}")

        np.testing.assert_array_equal(masked[0, 2:], self.embed("--ids", "7 8")[0])
        np.testing.assert_array_equal(masked[1], self.embed("--ids", "1 2 3 4")[0])

    def test_vectors_of_a_file_get_positions(self):
        vectors = np.random.default_rng(1).standard_normal((2, 3, 64)).astype(np.float32)
        np.save(self.folder / "vectors.npy", vectors)

        composed = self.embed("--inputs-embeds", str(self.folder / "vectors.npy"), "--offsets", "0 5")

        table = self.embed("--part", "position", "--sequence-length", "8")[0]
        np.testing.assert_array_equal(composed, vectors + np.stack([table[:3], table[5:]]))

    def test_verify_counts_ulp_as_numpy_does(self):
        for dtype in np.float32, np.float16:
            with self.subTest(dtype=dtype):
                served = self.embed("--ids", "1 2; 3 4", "--dtype", np.dtype(dtype).name)
                moved = served.copy()
                moved[1, 0, 5] = np.nextafter(np.nextafter(moved[1, 0, 5], dtype(9)), dtype(9))

                same = self.verify(served, "--ids", "1 2; 3 4")
                differs = self.verify(moved, "--ids", "1 2; 3 4", "--max-ulp", "1")
                near = self.verify(moved, "--ids", "1 2; 3 4", "--max-ulp", "2")

                self.assertEqual((same[0], same[1]["equal_cells"], same[1]["ok"]), (0, served.size, True))
                self.assertEqual((differs[0], differs[1]["largest_ulp"], differs[1]["ok"]), (1, 2, False))
                self.assertEqual(differs[1]["first_difference"]["cell"], [1, 0, 5])
                self.assertEqual((near[0], near[1]["equal_cells"]), (0, served.size - 1))


if __name__ == "__main__":
    unittest.main()
