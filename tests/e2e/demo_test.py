"""What `./dev demo` shows: the lesson's facts, from a live server through embdctl."""

import os
import pathlib
import subprocess
import unittest

from support.server_process import ServerProcess

_EMBDCTL = pathlib.Path(os.environ["EMBD_BIN_DIR"]) / "embdctl"


class DemoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with ServerProcess() as server:
            done = subprocess.run(
                [_EMBDCTL, "--server", server.address, "compare", "demo-learned", "demo-sinusoidal"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        cls.code, cls.text, cls.errors = done.returncode, done.stdout, done.stderr

    def test_succeeds_without_a_word_on_standard_error(self):
        self.assertEqual((self.code, self.errors), (0, ""))

    def test_shows_the_shapes(self):
        self.assertGreaterEqual(self.text.count("(4, 32, 64)"), 3)

    def test_shows_the_parameter_counts(self):
        for count in "20480", "8192", "0  (parameter-free)":
            self.assertIn(count, self.text)

    def test_shows_the_neighbour_curve_of_the_sinusoidal_table(self):
        for cosine in "+0.9662", "+0.8845", "+0.7996", "+0.7479", "+0.7345", "+0.7362":
            self.assertIn(cosine, self.text)
        self.assertIn("4/5", self.text)

    def test_shows_that_the_context_length_is_a_limit(self):
        self.assertIn("sequence_length 129 exceeds max_context_length 128", self.text)


if __name__ == "__main__":
    unittest.main()
