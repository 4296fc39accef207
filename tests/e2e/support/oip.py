"""The Open Inference Protocol as a client sees it that knows nothing but its proto."""

import os

# As in calls.py.
os.environ.setdefault("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "100")
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc
import numpy as np

from support.protoc import PROTO_FOLDER, make_importable

make_importable((PROTO_FOLDER, sorted(PROTO_FOLDER.glob("inference/*.proto"))))

from inference import grpc_service_pb2 as pb
from inference import grpc_service_pb2_grpc

DEADLINE_SECONDS = 60
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

RAW, TYPED = "raw", "typed"
_NAMES = {"<i4": "INT32", "<i8": "INT64", "<f2": "FP16", "<f4": "FP32"}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}
_FIELDS = {"INT32": "int_contents", "INT64": "int64_contents", "FP32": "fp32_contents"}


class OipClient:
    """A channel to a server with the stub of GRPCInferenceService. Use in a `with` block."""

    def __init__(self, address, options=UNLIMITED):
        self.channel = grpc.insecure_channel(address, options=options)
        self.stub = grpc_service_pb2_grpc.GRPCInferenceServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def infer(self, model, inputs, *rest, **fields):
        """ModelInfer; a dictionary of the outputs as arrays."""
        return to_arrays(self.stub.ModelInfer(request_of(model, inputs, *rest, **fields), timeout=DEADLINE_SECONDS))


def request_of(model, inputs, form=RAW, outputs=(), typed_output=None, **parameters):
    """A ModelInferRequest of arrays by name; outputs by name; parameters are texts or integers."""
    request = pb.ModelInferRequest(model_name=model)
    for name, array in inputs.items():
        array = np.ascontiguousarray(array)
        tensor = request.inputs.add(name=name, datatype=_NAMES[array.dtype.str], shape=array.shape)
        if form == RAW:
            request.raw_input_contents.append(array.tobytes())
        else:
            getattr(tensor.contents, _FIELDS[tensor.datatype]).extend(array.ravel().tolist())
    for name in outputs:
        request.outputs.add(name=name)
    if typed_output is not None:
        request.parameters["typed_output"].bool_param = typed_output
    for name, value in parameters.items():
        if isinstance(value, str):
            request.parameters[name].string_param = value
        else:
            request.parameters[name].int64_param = value
    return request


def to_arrays(response):
    """The outputs of a ModelInferResponse by name, raw or typed; BF16 widened to float32, which loses nothing."""
    raw = iter(response.raw_output_contents)
    return {tensor.name: _elements(tensor, raw).reshape(tuple(tensor.shape)) for tensor in response.outputs}


def _elements(tensor, raw):
    if tensor.HasField("contents"):
        return np.array(getattr(tensor.contents, _FIELDS[tensor.datatype]), _TYPES[tensor.datatype])
    data = next(raw)
    if tensor.datatype == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, _TYPES[tensor.datatype])
