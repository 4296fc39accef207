"""Tensors of embd.v1 as numpy arrays, and numpy's word on rounding."""

import numpy as np

from support.stubs import tensor_pb2

_PLAIN = {
    tensor_pb2.DATA_TYPE_FLOAT32: "<f4",
    tensor_pb2.DATA_TYPE_FLOAT16: "<f2",
    tensor_pb2.DATA_TYPE_INT32: "<i4",
    tensor_pb2.DATA_TYPE_INT64: "<i8",
    tensor_pb2.DATA_TYPE_UINT32: "<u4",
}


def to_array(tensor):
    """The tensor's elements in its shape; bfloat16 widened to float32, which loses nothing."""
    if tensor.data_type == tensor_pb2.DATA_TYPE_BFLOAT16:
        upper = np.frombuffer(tensor.data, "<u2").astype(np.uint32)
        flat = (upper << 16).view(np.float32)
    else:
        flat = np.frombuffer(tensor.data, _PLAIN[tensor.data_type])
    return flat.reshape(tuple(tensor.shape))


def to_tensor(data_type, array):
    """An array as a tensor of the given type."""
    return tensor_pb2.Tensor(
        data_type=data_type, shape=array.shape, data=np.ascontiguousarray(array, _PLAIN[data_type]).tobytes()
    )


def round_to_bfloat16(values):
    """float32 values rounded to the nearest bfloat16, ties to even; as float32. For finite values."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return (rounded.astype(np.uint32) << 16).view(np.float32).reshape(values.shape)
