#!/usr/bin/python3
"""Prints the golden values of seeded tables: python3 tests/golden/seeded.py > tests/golden/seeded.txt

Follows the contracts of server/core/table/{philox,normal,seeded_table}.h with Python's integers and Python's own math
library, so it shares nothing with the C++ code but those contracts. Lines:

    normals SEED STREAM BLOCK Z0 Z1       the two standard normals of a block, before mean, std and rounding
    float   STREAM ELEMENT BITS           float32 bits of an element of a demo table
    sha256  STREAM ROWS DIM HEX           checksum of a demo table: seed 11, mean 0, std 0.02
"""

import hashlib
import math

import numpy as np

TOKEN, POSITION = 1, 2
WORD = 0xFFFFFFFF
SEED, STD = 11, 0.02
DEMO_TABLES = {TOKEN: (320, 64), POSITION: (128, 64)}


def philox4x32(counter, key):
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def normals(seed, stream, block):
    words = philox4x32((block & WORD, block >> 32, stream, 0), (seed & WORD, seed >> 32))
    u1 = (((words[1] << 32 | words[0]) >> 11) + 1) / 2**53
    u2 = ((words[3] << 32 | words[2]) >> 11) / 2**53
    r = math.sqrt(-2 * math.log(u1))
    return r * math.cos(2 * math.pi * u2), r * math.sin(2 * math.pi * u2)


def demo_table(stream):
    rows, dim = DEMO_TABLES[stream]
    values = [STD * z for block in range(rows * dim // 2) for z in normals(SEED, stream, block)]
    return np.array(values).astype("<f4")


def main():
    blocks = [(11, stream, block) for stream in (1, 2, 3, 4) for block in range(8)]
    blocks += [(0, 1, 0), (2**64 - 1, 2, 1), (2**32, 1, 7), (11, 1, 2**32), (11, 1, 2**32 + 1), (12345, 4, 2**61)]
    for seed, stream, block in blocks:
        z0, z1 = normals(seed, stream, block)
        print("normals", seed, stream, block, repr(z0), repr(z1))
    for stream, (rows, dim) in DEMO_TABLES.items():
        table = demo_table(stream)
        for element in [*range(16), rows * dim - 2, rows * dim - 1]:
            print("float", stream, element, f"{table.view('<u4')[element]:08x}")
        print("sha256", stream, rows, dim, hashlib.sha256(table.tobytes()).hexdigest())


if __name__ == "__main__":
    main()
