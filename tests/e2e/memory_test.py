"""The server's memory stays as it is over many calls of mixed sizes; memory_soak.py does the same at length."""

import unittest

import memory_soak


class MemoryTest(unittest.TestCase):
    def test_resident_memory_is_flat_over_calls_of_mixed_sizes(self):
        pieces = memory_soak.soak(calls=48_000, pieces=12)

        self.assertEqual(sum(piece.calls for piece in pieces), 48_000)
        self.assertEqual(sum(piece.failed for piece in pieces), 0)
        self.assertLess(memory_soak.growth_mib(pieces), memory_soak.GROWTH_MIB, pieces)


if __name__ == "__main__":
    unittest.main()
