#!/usr/bin/python3
"""What people would use instead: grpcio and torch, with two nn.Embedding that are added.

Answers embd.v1's Embed with the tensor's bytes, and bench's RepeatedFloat with a list of numbers, for the comparison of
`./dev bench`. Reads the tables from TOKEN.npy and POSITION.npy, so that it answers the same as embd, and prints
{"listen": [ADDRESS, …]} once it serves.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import grpc
import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
PROTOS = HERE.parents[1] / "proto"
WORKERS = 8


def generate(folder):
    """The Python messages and services, made by protoc."""
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("embd/v1/*.proto"))
    for include, names in ((PROTOS, files), (HERE, ["repeated_float.proto"])):
        subprocess.run(
            [
                "protoc",
                *(f"-I{include}", f"-I{PROTOS}", f"--python_out={folder}", f"--grpc_out={folder}"),
                "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin",
                *names,
            ],
            check=True,
        )
    sys.path.insert(0, folder)


class Model(torch.nn.Module):
    def __init__(self, token, position):
        super().__init__()
        self.token = torch.nn.Embedding.from_pretrained(torch.from_numpy(token))
        self.position = torch.nn.Embedding.from_pretrained(torch.from_numpy(position))

    def forward(self, ids):
        return self.token(ids) + self.position(torch.arange(ids.shape[1]))


def compose(model, request):
    ids = np.array(request.ids, np.int64).reshape(request.batch_size, request.sequence_length)
    with torch.inference_mode():
        return model(torch.from_numpy(ids))


def make_servicers(model):
    from embd.v1 import embedding_pb2, embedding_pb2_grpc, tensor_pb2
    import repeated_float_pb2
    import repeated_float_pb2_grpc

    class Embedding(embedding_pb2_grpc.EmbeddingServiceServicer):
        def Embed(self, request, context):
            values = compose(model, request)
            data_type = tensor_pb2.DATA_TYPE_FLOAT32
            if request.output_type == tensor_pb2.DATA_TYPE_FLOAT16:
                data_type = tensor_pb2.DATA_TYPE_FLOAT16
                values = values.half()
            tensor = tensor_pb2.Tensor(data_type=data_type, shape=values.shape, data=values.numpy().tobytes())
            return embedding_pb2.EmbedResponse(model=request.model, embeddings=tensor)

    class RepeatedFloat(repeated_float_pb2_grpc.RepeatedFloatServicer):
        def Embed(self, request, context):
            values = compose(model, request)
            return repeated_float_pb2.Floats(shape=values.shape, values=values.flatten().tolist())

    def add_to(server):
        embedding_pb2_grpc.add_EmbeddingServiceServicer_to_server(Embedding(), server)
        repeated_float_pb2_grpc.add_RepeatedFloatServicer_to_server(RepeatedFloat(), server)

    return add_to


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("token")
    parser.add_argument("position")
    options = parser.parse_args()
    model = Model(np.load(options.token), np.load(options.position))
    with tempfile.TemporaryDirectory(prefix="embd-bench-") as folder:
        generate(folder)
        add_to = make_servicers(model)
    unlimited = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(WORKERS), options=unlimited)
    add_to(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(json.dumps({"listen": [f"127.0.0.1:{port}"]}), flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
