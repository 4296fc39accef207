"""Protobuf messages written byte by byte: encodings that are valid but that no library would choose."""


def varint(value):
    """An int64 as protobuf writes it: negative numbers in two's complement, ten bytes long."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(number, value):
    """A varint field."""
    return varint(number << 3) + varint(value)


def chunk(number, content):
    """A field of bytes, text, a message or packed numbers."""
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(number, values):
    """A packed run of varints."""
    return chunk(number, b"".join(map(varint, values)))


def unpacked(number, values):
    """The same numbers as one field each."""
    return b"".join(integer(number, value) for value in values)
