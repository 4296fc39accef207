"""The requests that a folder is asked, and what the oracle makes of each."""

import zlib

import numpy as np

from architectures.expected import Batch, Expected
from support.arrays import to_tensor
from support.calls import PART_COMPOSED, PART_POSITION, PART_TOKEN
from support.stubs import tensor_pb2


class Case:
    """A request with its name. `sent` are fields that say the same as the batch in another way."""

    def __init__(self, name, batch, part=PART_COMPOSED, **sent):
        self.name, self.batch, self.part, self.sent = name, batch, part, sent

    def request(self, model, output_type=tensor_pb2.DATA_TYPE_FLOAT32):
        """Fields of an EmbedRequest."""
        batch = self.batch
        fields = {"model": model, "part": self.part, "output_type": output_type}
        if batch.ids is not None:
            fields.update(ids=batch.ids.ravel().tolist(), batch_size=batch.shape[0], sequence_length=batch.shape[1])
        else:
            fields["inputs_embeds"] = to_tensor(tensor_pb2.DATA_TYPE_FLOAT32, batch.embeds)
        for field, values in (
            ("position_offsets", batch.offsets),
            ("position_ids", batch.position_ids),
            ("attention_mask", batch.mask),
            ("token_type_ids", batch.types),
        ):
            if values is not None:
                fields[field] = np.asarray(values).ravel().tolist()
        return {**fields, **self.sent}

    def expected(self, stage):
        if self.part == PART_TOKEN:
            values = stage.tokens(self.batch)
            return Expected(values, np.spacing(np.abs(values)), 0)
        return stage.positions(self.batch) if self.part == PART_POSITION else stage.composed(self.batch)


class Batches:
    """Random requests that a folder allows; its name is the seed."""

    def __init__(self, checkpoint):
        self.checkpoint = checkpoint
        self.random = np.random.default_rng(zlib.crc32(checkpoint.name.encode()) + 1)
        self.longest = checkpoint.context or 12

    def ids(self, batch_size, length):
        """Ids of the vocabulary but for the padding's."""
        pad = getattr(self.checkpoint.stage, "pad", None)
        ids = self.random.integers(0, self.checkpoint.vocab_size, (batch_size, length))
        return ids if pad is None else np.where(ids == pad, (pad + 1) % self.checkpoint.vocab_size, ids)

    def padded(self, batch_size, length):
        """Some ids are the padding's, on the right and in between."""
        pad = getattr(self.checkpoint.stage, "pad", None) or 0
        ids = self.ids(batch_size, length)
        ids[0, -2:] = pad
        ids[-1, 1] = pad
        return ids

    def left_mask(self, batch_size, length):
        """Zeros, then at least one 1."""
        return (np.arange(length) >= self.random.integers(0, length, (batch_size, 1))).astype(np.int64)

    def all(self):
        """Every kind of request that the folder's family has an answer for."""
        composed = self.composed()
        yield from composed
        yield Case("token part", composed[0].batch, PART_TOKEN)
        stage = self.checkpoint.stage
        if stage.table_rows is not None:
            for case in composed:
                batch = case.batch
                if batch.embeds is None and batch.types is None and stage.mask_numbers(batch):
                    yield Case(f"position part, {case.name}", batch, PART_POSITION, **case.sent)

    def composed(self):
        """Requests for the whole input stage."""
        ids, offsets = self.ids(3, 6), np.array([0, 3, 1])
        columns = self.random.integers(0, self.longest, 6)
        made = [
            Case("plain", Batch(ids)),
            Case("one cell", Batch(self.ids(1, 1))),
            Case("one cell at an offset", Batch(self.ids(1, 1), offsets=np.array([self.longest - 1]))),
            Case("whole context", Batch(self.ids(1, self.longest))),
            Case("many rows", Batch(self.ids(17, 9))),
            Case("padding ids", Batch(self.padded(3, 6))),
            Case("padding ids and offsets", Batch(self.padded(3, 6), offsets=offsets)),
            Case("offsets", Batch(ids, offsets=offsets)),
            Case("one offset", Batch(ids, offsets=np.full(3, 2)), position_offsets=[2]),
            Case(
                "position_ids of columns",
                Batch(ids, position_ids=np.broadcast_to(columns, (3, 6))),
                position_ids=columns.tolist(),
            ),
            Case("position_ids", Batch(ids, position_ids=self.random.integers(0, self.longest, (3, 6)))),
            Case("inputs_embeds", Batch(embeds=self.random.standard_normal((2, 5, self.checkpoint.dim)))),
        ]
        # What XGLM does with a mask depends on who calls it: its module ignores it, generation counts it.
        if self.checkpoint.family != "xglm":
            mask = self.left_mask(3, 6)
            made.append(Case("left padding", Batch(ids, mask=mask)))
            made.append(Case("left padding and offsets", Batch(ids, mask=mask, offsets=offsets)))
        if self.checkpoint.types:
            types = self.random.integers(0, self.checkpoint.types, (3, 6))
            made.append(Case("token types", Batch(ids, types=types)))
            made.append(Case("token types and offsets", Batch(ids, types=types, offsets=offsets)))
        return made
