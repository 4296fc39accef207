#!/usr/bin/python3
"""Writes the golden files of tests/golden/formats: .npy by numpy, .safetensors by hand.

All .npy tables hold VALUES, which float16, float32 and float64 represent exactly; golden_files_test.cc has the same
values. Run it without arguments; the output is the same on every run.
"""

import json
import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "formats"

VALUES = np.array(
    [
        [0.0, -0.0, 1.0],
        [-1.5, 2.0**-24, 65504.0],
        [np.inf, -np.inf, 0.333251953125],
        [3.140625, -(2.0**-14), 2047.0],
    ],
    dtype=np.float64,
)


def write_npy(name, array, version):
    with open(FOLDER / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def write_tables():
    for major in (1, 2, 3):
        for kind in ("f2", "f4", "f8"):
            for order, order_name in (("<", "little"), (">", "big")):
                table = VALUES.astype(order + kind)
                name = f"v{major}_{kind}_{order_name}"
                write_npy(f"{name}_c", np.ascontiguousarray(table), (major, 0))
                write_npy(f"{name}_fortran", np.asfortranarray(table), (major, 0))


def write_arrays_that_are_no_tables():
    whole = np.arange(6).reshape(2, 3)
    write_npy("refused_int32", whole.astype("<i4"), (1, 0))
    write_npy("refused_complex64", whole.astype("<c8"), (1, 0))
    write_npy("refused_bool", whole.astype("?"), (1, 0))
    write_npy("refused_object", whole.astype(object), (1, 0))
    write_npy("refused_text", whole.astype("<U2"), (1, 0))
    write_npy("refused_time", whole.astype("<M8[ns]"), (1, 0))
    write_npy("refused_structured", np.zeros((2, 3), dtype=[("x", "<f4"), ("y", "<f4")]), (1, 0))
    write_npy("refused_rank0", np.float32(1.0), (1, 0))
    write_npy("refused_rank1", np.zeros(3, dtype="<f4"), (1, 0))
    write_npy("refused_rank3", np.zeros((1, 2, 3), dtype="<f4"), (1, 0))
    write_npy("refused_empty", np.zeros((0, 3), dtype="<f4"), (1, 0))


def bfloat16_bytes(values):
    # Exact here: the lower half of these float32 values is zero.
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def write_safetensors():
    tensors = [
        ("float32", "F32", [2, 3], struct.pack("<6f", 0.0, -0.0, 1.0, -1.5, float("inf"), 0.1)),
        ("scalar", "F32", [], struct.pack("<f", 7.0)),
        ("float16", "F16", [3, 1], struct.pack("<3e", 1.0, -65504.0, 2.0**-24)),
        ("ids", "I64", [2], struct.pack("<2q", -1, 5)),
        ("bfloat16", "BF16", [1, 4], bfloat16_bytes([1.0, -2.0, 0.5, 3.0])),
        ("empty", "F32", [2, 0], b""),
        ("float64", "F64", [1, 2], struct.pack("<2d", 0.1, -1e300)),
        ("float8", "F8_E4M3", [3], b"\x38\xb8\x7e"),
        ("flags", "BOOL", [1], b"\x01"),
    ]
    header = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / "mixed.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    FOLDER.mkdir(exist_ok=True)
    write_tables()
    write_arrays_that_are_no_tables()
    write_safetensors()


if __name__ == "__main__":
    main()
