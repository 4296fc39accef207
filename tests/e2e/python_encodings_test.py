"""Any valid protobuf encoding of a request is understood and gives the same bits."""

import unittest

import grpc

from support.calls import Client
from support.server_process import ServerProcess
from support.stubs import embedding_pb2
from support.wire import chunk, integer, packed, unpacked, varint

IDS = [300, 1, 2, 3, 128, 5]
MODEL = chunk(1, "demo-learned")
SHAPE = integer(3, 2) + integer(4, 3)


def setUpModule():
    global client, expected
    server = unittest.enterModuleContext(ServerProcess())
    client = unittest.enterModuleContext(Client(server.address))
    expected = client.call(model="demo-learned", ids=IDS, batch_size=2, sequence_length=3)


class EncodingsTest(unittest.TestCase):
    def assert_same_reply(self, request):
        self.assertEqual(client.embed_bytes(request), expected)

    def test_ids_one_field_each(self):
        self.assert_same_reply(MODEL + unpacked(2, IDS) + SHAPE)

    def test_ids_in_two_packed_pieces(self):
        self.assert_same_reply(MODEL + packed(2, IDS[:2]) + SHAPE + packed(2, IDS[2:]))

    def test_ids_packed_and_unpacked_mixed(self):
        self.assert_same_reply(MODEL + packed(2, IDS[:2]) + unpacked(2, IDS[2:5]) + packed(2, IDS[5:]) + SHAPE)

    def test_fields_in_reverse_order(self):
        self.assert_same_reply(integer(4, 3) + integer(3, 2) + packed(2, IDS) + MODEL)

    def test_last_of_a_repeated_singular_field_wins(self):
        self.assert_same_reply(chunk(1, "nobody") + integer(3, 99) + MODEL + packed(2, IDS) + SHAPE)

    def test_unknown_fields_of_every_wire_type_are_skipped(self):
        fixed64 = varint(3001 << 3 | 1) + bytes(8)
        fixed32 = varint(3002 << 3 | 5) + bytes(4)
        group = varint(3003 << 3 | 3) + integer(1, 5) + varint(3003 << 3 | 4)
        unknown = integer(3000, 7) + fixed64 + fixed32 + group + chunk(3004, b"\xff" * 50)

        self.assert_same_reply(unknown + MODEL + packed(2, IDS) + unknown + SHAPE)

    def test_varints_longer_than_needed(self):
        padded_two = varint(3 << 3) + b"\x82\x80\x80\x00"

        self.assert_same_reply(MODEL + packed(2, IDS) + padded_two + integer(4, 3))

    def test_defaults_written_out(self):
        self.assert_same_reply(MODEL + packed(2, IDS) + SHAPE + integer(5, 0) + integer(6, 0) + chunk(13, ""))

    def test_request_compressed_with_gzip(self):
        request = embedding_pb2.EmbedRequest(model="demo-learned", ids=IDS, batch_size=2, sequence_length=3)

        reply = client.embedding.Embed(request, timeout=60, compression=grpc.Compression.Gzip)

        self.assertEqual(reply, expected)

    def test_reply_is_the_canonical_encoding_of_its_message(self):
        raw = client.channel.unary_unary("/embd.v1.EmbeddingService/Embed")
        request = embedding_pb2.EmbedRequest(model="demo-learned", ids=IDS, batch_size=2, sequence_length=3)

        data = raw(request.SerializeToString(), timeout=60)

        self.assertEqual(data, embedding_pb2.EmbedResponse.FromString(data).SerializeToString(deterministic=True))


if __name__ == "__main__":
    unittest.main()
