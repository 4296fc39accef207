"""Element types as numpy sees them: widening to float32, and rounding to what a reply holds. Independent of embd."""

import numpy as np

from support.stubs import tensor_pb2

STORED = ("float32", "float16", "bfloat16", "float64")
WIRE = {
    "float32": tensor_pb2.DATA_TYPE_FLOAT32,
    "float16": tensor_pb2.DATA_TYPE_FLOAT16,
    "bfloat16": tensor_pb2.DATA_TYPE_BFLOAT16,
    "float64": tensor_pb2.DATA_TYPE_FLOAT64,
    "int32": tensor_pb2.DATA_TYPE_INT32,
    "int64": tensor_pb2.DATA_TYPE_INT64,
    "uint32": tensor_pb2.DATA_TYPE_UINT32,
}
RAW = {
    "float32": "<f4",
    "float16": "<f2",
    "bfloat16": "<u2",
    "float64": "<f8",
    "int32": "<i4",
    "int64": "<i8",
    "uint32": "<u4",
}


def raw(values, kind):
    """Numbers as elements of a type: for bfloat16 its bits, else what numpy calls it."""
    if kind == "bfloat16":
        return bfloat16_bits(np.asarray(values, np.float32))
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(RAW[kind])


_LARGEST = {"float16": np.float32(65504), "bfloat16": np.uint32(0x7F7F0000).view(np.float32)}


def saturated(values, kind):
    """float32 values, of which the finite ones that the type cannot hold are its largest, with their sign."""
    largest = _LARGEST.get(kind, np.float32(np.inf))
    return np.where(np.isfinite(values) & (np.abs(values) > largest), np.copysign(largest, values), values)


def widen(elements, kind):
    """Elements of a type as float32; of float64 the nearest."""
    if kind == "bfloat16":
        return (elements.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(over="ignore"):
        return elements.astype(np.float32)


def bfloat16_bits(values):
    """float32 values as the bits of the nearest bfloat16, ties to even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).reshape(np.shape(values))


def to_wire(elements, kind):
    """Elements of a type as a Tensor."""
    return tensor_pb2.Tensor(data_type=WIRE[kind], shape=elements.shape, data=np.ascontiguousarray(elements).tobytes())


def from_wire(tensor, kind):
    """The elements of a Tensor that must have that type."""
    if tensor.data_type != WIRE[kind]:
        raise AssertionError(f"the reply has data_type {tensor.data_type}, {kind} was asked for")
    return np.frombuffer(tensor.data, RAW[kind]).reshape(tuple(tensor.shape))


def same(actual, expected, kind):
    """Whether all elements have the same bits; NaNs count as one."""
    if actual.shape != expected.shape:
        return False
    nans = np.isnan(widen(actual, kind)) & np.isnan(widen(expected, kind))
    return bool(np.all(nans | (_bits(actual) == _bits(expected))))


def _bits(elements):
    return np.ascontiguousarray(elements).view(f"<u{elements.dtype.itemsize}")
