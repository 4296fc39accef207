"""Prints tests/golden/bags.txt: what torch's nn.EmbeddingBag and TensorFlow's combiners make of bags of ids.

Sums, means and maxima are those of torch (Debian's python3-torch, 1.13). Weighted means and sqrtn, which torch has not,
are computed with numpy in the order that the kernel promises: products rounded to float32, added in float32 in the order
of the ids, and divided by the weights' sum, or the root of their squares' sum, added in double and rounded to float32.

First the table, (V, D): "V D", then its elements. Then one line a case:

    ORACLE MODE PADDING_IDX BAGS LENGTHS... IDS... HAS_WEIGHTS WEIGHTS... VECTORS...

PADDING_IDX is -1 for none. Floats are the bits of a float32 in hexadecimal.
"""

import numpy as np
import torch

VOCAB, DIM = 23, 20
LENGTHS = [3, 0, 1, 7, 2, 0, 40, 5]


def bits(values):
    return [f"{value:08x}" for value in np.ascontiguousarray(values, np.float32).reshape(-1).view(np.uint32)]


def with_torch(table, mode, padding, ids, weights):
    bag = torch.nn.functional.embedding_bag(
        torch.from_numpy(ids),
        torch.from_numpy(table),
        torch.from_numpy(np.cumsum([0] + LENGTHS[:-1])),
        mode=mode,
        per_sample_weights=None if weights is None else torch.from_numpy(weights),
        padding_idx=None if padding < 0 else padding,
    )
    return bag.numpy()


def with_numpy(table, mode, padding, ids, weights):
    out = np.zeros((len(LENGTHS), table.shape[1]), np.float32)
    for row, length, stop in zip(out, LENGTHS, np.cumsum(LENGTHS)):
        cells = [i for i in range(stop - length, stop) if ids[i] != padding]
        divisor = 0.0
        for i in cells:
            weight = np.float32(1) if weights is None else weights[i]
            row += table[ids[i]] * weight
            divisor += float(weight) ** 2 if mode == "sqrtn" else float(weight)
        divisor = np.float32(np.sqrt(divisor) if mode == "sqrtn" else divisor)
        row[:] = row / divisor if divisor != 0 else 0
    return out


def main():
    random = np.random.default_rng(7)
    table = random.standard_normal((VOCAB, DIM)).astype(np.float32)
    ids = random.integers(0, VOCAB, sum(LENGTHS))
    ids[3] = 5  # a bag of padding only, with padding_idx 5
    weights = random.uniform(-1, 2, sum(LENGTHS)).astype(np.float32)
    print(VOCAB, DIM, *bits(table))
    cases = [("torch", mode, padding, None) for mode in ("sum", "mean", "max") for padding in (-1, 5)]
    cases += [("torch", "sum", padding, weights) for padding in (-1, 5)]
    cases += [("numpy", mode, padding, w) for mode in ("mean", "sqrtn") for padding in (-1, 5) for w in (None, weights)]
    for oracle, mode, padding, given in cases:
        vectors = (with_torch if oracle == "torch" else with_numpy)(table, mode, padding, ids, given)
        weight_bits = [] if given is None else bits(given)
        print(oracle, mode, padding, len(LENGTHS), *LENGTHS, *ids, int(given is not None), *weight_bits, *bits(vectors))


if __name__ == "__main__":
    main()
