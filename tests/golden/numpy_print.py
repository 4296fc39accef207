#!/usr/bin/env python3
"""Writes numpy_print.json: arrays, as raw bytes, and the text that numpy prints for them."""

import json
import pathlib

import numpy as np


def cases():
    draw = np.random.Generator(np.random.Philox(7))
    normal = lambda shape, scale: (draw.standard_normal(shape) * scale).astype(np.float32)

    yield "small numbers", normal((4, 8), 0.02)
    yield "ordinary numbers", normal((2, 3, 4), 1.0)
    yield "a vector", normal((7,), 1.0)
    yield "a long vector wraps", normal((40,), 3.0)
    yield "a matrix whose rows wrap", normal((3, 16), 0.5)
    yield "a thousand elements in full", np.linspace(-1, 1, 1000, dtype=np.float32).reshape(10, 100)
    yield "above a thousand elements", np.linspace(-1, 1, 1001, dtype=np.float32)
    yield "above a thousand in three extents", normal((4, 8, 40), 0.02)
    yield "short extents are never cut", normal((6, 2, 100), 1.0)
    yield "only the first extent is long", normal((600, 2), 1.0)
    yield "whole numbers", np.array([[0, 1], [-2, 300]], np.float32)
    yield "wide spread", np.array([1e-3, 1.5, 999999.0], np.float32)
    yield "spread of exactly a thousand", np.array([1.0, 1000.0], np.float32)
    yield "spread just above a thousand", np.array([1.0, 1000.5], np.float32)
    yield "large", np.array([1e8, 12345.0], np.float32)
    yield "just below large", np.array([99999999.0, 5e7], np.float64)
    yield "tiny", np.array([1e-5, -2.5e-30], np.float32)
    yield "three digits of exponent", np.array([1e-300, 1.5e200], np.float64)
    yield "subnormal", np.array([1e-45], np.float32)
    yield "largest", np.array([np.finfo(np.float32).max], np.float32)
    yield "zeros", np.zeros((2, 3), np.float32)
    yield "negative zero", np.array([-0.0, 0.0], np.float32)
    yield "nan and infinity", np.array([1.5, np.nan, -np.inf, np.inf], np.float32)
    yield "only nan", np.array([np.nan, np.nan], np.float32)
    yield "only infinity", np.array([np.inf, -np.inf], np.float32)
    yield "nan in scientific form", np.array([1e-10, np.nan, -np.inf], np.float32)
    yield "nan beside short numbers", np.array([1.0, np.nan], np.float32)
    yield "infinity beside short numbers", np.array([1.0, -np.inf], np.float32)
    yield "float16", normal((2, 8), 0.02).astype(np.float16)
    yield "float16 of all sizes", np.array([0.1, -65504, 6e-8, 1 / 3], np.float16)
    yield "float16 spread that rounds to a thousand", np.array([1.0, 1000.0], np.float16)
    yield "float16 power of two between two numbers", np.array([-903.5, -0.015625], np.float16)
    yield "float16 of five digits before the point", np.array([-62976, 8280, np.inf], np.float16)
    yield "float32 of eight digits before the point", np.array([50331648, 16777218], np.float32)
    yield "float16 above a thousand", normal((3, 400), 1.0).astype(np.float16)
    yield "float64", draw.standard_normal((2, 3))
    yield "float64 third", np.array([1 / 3, 2 / 3, 1.0])
    yield "a half is rounded to even", np.array([0.5, 1.000000025, 2.5])
    yield "int64", np.array([[1, -20], [300, 4]], np.int64)
    yield "int32", np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    yield "empty", np.zeros((0, 3), np.float32)
    yield "one element", np.array([[[0.25]]], np.float32)


def main():
    entries = [
        {"name": name, "dtype": array.dtype.name, "shape": array.shape, "bytes": array.tobytes().hex(), "text": str(array)}
        for name, array in cases()
    ]
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    main()
