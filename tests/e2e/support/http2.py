"""The first bytes of a client that speaks just enough HTTP/2 to call, and never reads what comes back."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value  # a literal that is not indexed


def call(method, message):
    """A connection's first bytes with one call of a client that never opens its window further."""
    fields = [
        (b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/embd.v1.EmbeddingService/" + method),
        (b":authority", b"test"), (b"te", b"trailers"), (b"content-type", b"application/grpc"),
    ]
    block = b"".join(header(*field) for field in fields)
    data = b"\x00" + struct.pack(">I", len(message)) + message
    parts = b"".join(frame(0, 0, 1, data[i:i + 16_000]) for i in range(0, len(data), 16_000))
    return PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, block) + parts + frame(0, 1, 1, b"")
