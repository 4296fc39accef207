#!/usr/bin/python3
"""Writes the GGUF files of tests/golden/formats and the values they hold.

For each type TYPE: gguf_TYPE.gguf, whose `token_embd.weight` has ROWS rows of WIDTH values, quantised here, and
gguf_TYPE.npy (float32) with the values that the stored numbers stand for. Values are computed from the numbers, not from
the packed bytes, with one float32 rounding an operation. Run it without arguments; the output is the same on every run.
"""

import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent / "formats"
ROWS = 3
WIDTH = 512
ALIGNMENT = 64

F32 = np.float32


def half(values):
    """float16 numbers, and the float32 values they stand for."""
    stored = np.asarray(values, dtype=np.float16)
    return stored, stored.astype(F32)


def quants(values, scale, low, high):
    """The whole numbers nearest to values / scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(scale == 0, 0, np.rint(values / scale))
    return np.clip(np.nan_to_num(q), low, high).astype(np.int64)


def q4_0(rows):
    blocks = rows.reshape(-1, 32)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1)[:, None], axis=1)
    stored, d = half(largest / -8)
    q = quants(blocks, d, -8, 7)
    nibbles = (q + 8).astype(np.uint8)
    packed = nibbles[:, :16] | nibbles[:, 16:] << 4
    return np.concatenate([stored.view(np.uint8), packed], axis=1), q.astype(F32) * d


def q8_0(rows):
    blocks = rows.reshape(-1, 32)
    stored, d = half(np.abs(blocks).max(axis=1, keepdims=True) / 127)
    q = quants(blocks, d, -128, 127)
    return np.concatenate([stored.view(np.uint8), q.astype(np.int8).view(np.uint8)], axis=1), q.astype(F32) * d


def pack_pairs(scales, offsets):
    """Eight pairs of 6-bit numbers in twelve bytes."""
    scales, offsets = scales.astype(np.uint8), offsets.astype(np.uint8)
    first = scales[:, :4] | scales[:, 4:] >> 4 << 6
    second = offsets[:, :4] | offsets[:, 4:] >> 4 << 6
    third = (scales[:, 4:] & 15) | (offsets[:, 4:] & 15) << 4
    return np.concatenate([first, second, third], axis=1)


def q4_k(rows):
    groups = rows.reshape(-1, 8, 32)
    spread = groups.max(axis=2) - groups.min(axis=2)
    depth = np.maximum(0, -groups.min(axis=2))
    stored_d, d = half(spread.max(axis=1, keepdims=True) / 15 / 63)
    stored_m, m = half(depth.max(axis=1, keepdims=True) / 63)
    s = quants(spread / 15, d, 0, 63)
    t = quants(depth, m, 0, 63)
    scale = (d * s.astype(F32))[:, :, None]
    offset = (m * t.astype(F32))[:, :, None]
    q = quants(groups + offset, scale, 0, 15)
    nibbles = q.astype(np.uint8).reshape(-1, 4, 2, 32)
    packed = (nibbles[:, :, 0] | nibbles[:, :, 1] << 4).reshape(-1, 128)
    parts = [stored_d.view(np.uint8), stored_m.view(np.uint8), pack_pairs(s, t), packed]
    return np.concatenate(parts, axis=1), scale * q.astype(F32) - offset


def q6_k(rows):
    groups = rows.reshape(-1, 16, 16)
    largest = np.take_along_axis(groups, np.abs(groups).argmax(axis=2)[:, :, None], axis=2)[:, :, 0] / -32
    stored, d = half(np.abs(largest).max(axis=1, keepdims=True) / 127)
    s = quants(largest, d, -128, 127)
    scale = (d * s.astype(F32))[:, :, None]
    q = quants(groups, scale, -32, 31)
    bits = (q + 32).astype(np.uint8).reshape(-1, 2, 4, 32)  # half, quarter, value
    low, high = bits & 15, bits >> 4
    nibbles = np.concatenate([low[:, :, 0] | low[:, :, 2] << 4, low[:, :, 1] | low[:, :, 3] << 4], axis=2)
    upper = high[:, :, 0] | high[:, :, 1] << 2 | high[:, :, 2] << 4 | high[:, :, 3] << 6
    parts = [
        nibbles.reshape(-1, 128),
        upper.reshape(-1, 64),
        s.astype(np.int8).view(np.uint8),
        stored.view(np.uint8),
    ]
    return np.concatenate(parts, axis=1), scale * q.astype(F32)


def f32(rows):
    stored = rows.astype(F32)
    return stored.view(np.uint8), stored


def f16(rows):
    stored, values = half(rows)
    return stored.view(np.uint8), values


def bf16(rows):
    bits = rows.astype(F32).view(np.uint32)
    stored = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return stored.view(np.uint8), (stored.astype(np.uint32) << 16).view(F32)


TYPES = {
    "f32": (0, f32),
    "f16": (1, f16),
    "q4_0": (2, q4_0),
    "q8_0": (8, q8_0),
    "q4_k": (12, q4_k),
    "q6_k": (14, q6_k),
    "bf16": (30, bf16),
}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def array(kind, items):
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def metadata(words):
    return [
        pair("general.architecture", 8, text("llama")),
        pair("general.alignment", 4, struct.pack("<I", ALIGNMENT)),
        pair("a.uint8", 0, b"\xff"),
        pair("a.int8", 1, b"\xff"),
        pair("a.uint16", 2, struct.pack("<H", 65535)),
        pair("a.int16", 3, struct.pack("<h", -2)),
        pair("a.int32", 5, struct.pack("<i", -3)),
        pair("a.float32", 6, struct.pack("<f", 1e-5)),
        pair("a.bool", 7, b"\x01"),
        pair("a.uint64", 10, struct.pack("<Q", 2**64 - 1)),
        pair("a.int64", 11, struct.pack("<q", -(2**40))),
        pair("a.float64", 12, struct.pack("<d", 0.1)),
        pair("list.int32", 9, array(5, [struct.pack("<i", i) for i in (1, -2, 3)])),
        pair("list.float32", 9, array(6, [struct.pack("<f", i) for i in (0.5, 2)])),
        pair("list.bool", 9, array(7, [b"\x00", b"\x01"])),
        pair("list.text", 9, array(8, [text("a"), text("")])),
        pair("tokenizer.ggml.tokens", 9, array(8, [text(f"word{i}") for i in range(words)])),
    ]


def write(name, number, stored):
    tensors = [
        ("output_norm.weight", [5], 0, np.arange(5, dtype=F32).tobytes()),
        ("token_embd.weight", [WIDTH, ROWS], number, stored.tobytes()),
        ("position_embd.weight", [2, 3], 1, np.arange(6, dtype=np.float16).tobytes()),
    ]
    pairs = metadata(5000 if name == "f16" else 5)  # one tokenizer of a size to pass over
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    data = b""
    for tensor, sizes, kind, content in tensors:
        data += b"\xAA" * (-len(data) % ALIGNMENT)
        header += text(tensor) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, len(data))
        data += content
    header += b"\xAA" * (-len(header) % ALIGNMENT)
    (FOLDER / f"gguf_{name}.gguf").write_bytes(header + data)


def main():
    random = np.random.RandomState(20240501)
    rows = random.standard_normal((ROWS, WIDTH)) * np.exp(random.standard_normal((ROWS, WIDTH // 32)).repeat(32, axis=1))
    rows[1, :40] = 0  # a block of zeros has the scale 0
    rows[2, 100] = -1000
    rows[2, 256:] *= 1e-6  # subnormal scales
    for name, (number, quantise) in TYPES.items():
        stored, values = quantise(rows)
        write(name, number, np.ascontiguousarray(stored))
        np.save(FOLDER / f"gguf_{name}.npy", values.reshape(ROWS, WIDTH).astype(F32))


if __name__ == "__main__":
    main()
