"""Calls as a Python client makes them, and what it reads out of a refusal."""

import os

# An idle channel looks at its connection that often. The library's 5 s would be 5 s of waiting whenever a server stops.
os.environ.setdefault("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "100")
# A fork, by which servers are started, would wait until all of the library's threads rest: for ever, where one is at work.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc
import numpy as np

from support.arrays import to_array
from support.stubs import embedding_pb2, embedding_pb2_grpc, status_details_pb2

DEADLINE_SECONDS = 60
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
EMBED = "/embd.v1.EmbeddingService/Embed"
EMBED_STREAM = "/embd.v1.EmbeddingService/EmbedStream"
_TYPE_PREFIX = "type.googleapis.com/google.rpc."

PART_COMPOSED = embedding_pb2.PART_COMPOSED
PART_TOKEN = embedding_pb2.PART_TOKEN
PART_POSITION = embedding_pb2.PART_POSITION


class Client:
    """A channel to a server with the calls that the tests need. Use in a `with` block."""

    def __init__(self, address, options=None):
        self.channel = grpc.insecure_channel(address, options=UNLIMITED if options is None else options)
        self.embedding = embedding_pb2_grpc.EmbeddingServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def call(self, **fields):
        """Embed; the whole reply."""
        return self.call_message(embedding_pb2.EmbedRequest(**fields))

    def call_message(self, request):
        """Embed of a message; the whole reply."""
        return self.embedding.Embed(request, timeout=DEADLINE_SECONDS)

    def embed(self, model, ids, **fields):
        """Embed of a (B, T) array of ids; an array."""
        ids = np.asarray(ids)
        reply = self.call(
            model=model, ids=ids.ravel().tolist(), batch_size=ids.shape[0], sequence_length=ids.shape[1], **fields
        )
        return to_array(reply.embeddings)

    def positions(self, model, batch_size, sequence_length, **fields):
        """The position rows alone; an array."""
        reply = self.call(
            model=model, batch_size=batch_size, sequence_length=sequence_length, part=PART_POSITION, **fields
        )
        return to_array(reply.embeddings)

    def embed_bytes(self, request):
        """Embed of a request that is already encoded; the whole reply."""
        send = self.channel.unary_unary(
            EMBED, request_serializer=None, response_deserializer=embedding_pb2.EmbedResponse.FromString
        )
        return send(request, timeout=DEADLINE_SECONDS)

    def stream_bytes(self, requests):
        """EmbedStream of items that are already encoded; the list of answers."""
        send = self.channel.stream_stream(
            EMBED_STREAM, request_serializer=None, response_deserializer=embedding_pb2.EmbedStreamResponse.FromString
        )
        return list(send(iter(requests), timeout=DEADLINE_SECONDS))


class Refusal:
    """A failed call, taken apart: code, text, ErrorInfo and trailers."""

    def __init__(self, error):
        self.code = error.code()
        self.text = error.details()
        self.trailers = {key: value for key, value in error.trailing_metadata() or ()}
        self.reason = self.domain = self.retry_info = None
        details = self.trailers.get("grpc-status-details-bin")
        self.has_details = details is not None
        if self.has_details:
            self._read(status_details_pb2.Status.FromString(details))

    def _read(self, status):
        self.status_code, self.status_text = status.code, status.message
        for detail in status.details:
            if detail.type_url == _TYPE_PREFIX + "ErrorInfo":
                info = status_details_pb2.ErrorInfo.FromString(detail.value)
                self.reason, self.domain = info.reason, info.domain
            elif detail.type_url == _TYPE_PREFIX + "RetryInfo":
                self.retry_info = status_details_pb2.RetryInfo.FromString(detail.value)


def refusal_of(call, *arguments, **fields):
    """Makes a call that must fail and returns its Refusal."""
    try:
        call(*arguments, **fields)
    except grpc.RpcError as error:
        return Refusal(error)
    raise AssertionError("the call succeeded, but should have been refused")
