"""Random models, spelled out, and what DescribeModel must say of each."""

import hashlib
import math

import numpy as np

from random_batches import elements
from random_batches import rotations
from random_batches.rotary_formulas import KINDS
from support.stubs import diagnostics_pb2 as pb
from support.stubs import rotary_pb2, table_pb2

_NUMBERINGS = {
    name: getattr(pb, f"POSITION_NUMBERING_{name.upper()}") for name in ("sequential", "fixed", "padding", "mask")
}
_LAYOUTS = {
    name: getattr(pb, f"SINUSOIDAL_LAYOUT_{name.upper()}") for name in ("interleaved", "half", "tensor2tensor")
}


class ModelDraw:
    """Draws one model."""

    def __init__(self, random, folder, number):
        self._random, self._folder, self._number = random, folder, number
        self._files = 0
        self._entry = {}
        self._says = pb.DescribeModelResponse(
            version="1",
            generation=1,
            position_encoding=pb.POSITION_ENCODING_NONE,
            token_scale=1,
            out_of_range=pb.OUT_OF_RANGE_POLICY_ERROR,
            output_tied=True,
            output_scale=1,
        )

    def draw(self):
        """The model's entry, and the description."""
        self._name()
        self._token()
        if self._chance(0.5):
            self._entry["padding_idx"] = self._says.padding_idx = self._random.randrange(self._says.vocab_size)
        self._position()
        self._types()
        self._norm()
        self._rules()
        self._output()
        entries = list(self._entry.items())
        self._random.shuffle(entries)
        return dict(entries), self._says

    def _chance(self, share):
        return self._random.random() < share

    def _name(self):
        name = self._random.choice(("m", "A.b-c_", "0", "x" * 120)) + str(self._number)
        self._entry["name"] = self._says.name = name
        if self._chance(0.3):
            version = self._random.choice((2, "2024.1-b", "v_1"))
            self._entry["version"], self._says.version = version, str(version)
        if self._chance(0.2):
            self._entry["required"] = self._chance(0.5)

    def _add_table(self, kind, stored, rows, source="", checksum="", trainable=True):
        dim, size = self._says.embedding_dim, elements.raw(0, stored).itemsize
        self._says.tables.add(
            kind=kind,
            data_type=elements.WIRE[stored],
            shape=(rows, dim),
            element_count=rows * dim,
            parameter_count=rows * dim * trainable,
            byte_size=rows * dim * size,
            source=source,
            checksum=checksum,
        )
        self._says.parameter_count += rows * dim * trainable

    def _seeded(self, kind, rows, rows_key):
        self._add_table(kind, "float32", rows)
        seeded = {rows_key: rows}
        if kind == table_pb2.TABLE_KIND_TOKEN:
            seeded["embedding_dim"] = self._says.embedding_dim
        optional = {"mean": (0.5, -1e30, 0), "std": (0, 1e-3, 1e30), "seed": (0, 7, 2**64 - 1)}
        seeded |= {key: self._random.choice(values) for key, values in optional.items() if self._chance(0.3)}
        return {"seeded": seeded}

    def _file(self, kind, rows, raw=True):
        """A table file; without `raw`, one that says its own type and shape."""
        stored = self._random.choice(elements.STORED if raw else ("float32", "float16", "float64"))
        values = np.random.default_rng(self._random.getrandbits(32)).standard_normal((rows, self._says.embedding_dim))
        array = elements.raw(values, stored)
        name = self._new_file(".bin" if raw else ".npy")
        checksum = hashlib.sha256(array.tobytes()).hexdigest()
        self._add_table(kind, stored, rows, str(self._folder / name), checksum)
        if not raw:
            np.save(self._folder / name, array)
            return {"file": name}
        table = {"file": name, "dtype": stored, "shape": list(array.shape)}
        if self._chance(0.3):
            table["mmap"] = self._chance(0.5)
        offset = self._random.choice((0, 4096) if table.get("mmap") else (0, 1, 4096))  # mapped rows are aligned
        (self._folder / name).write_bytes(bytes(offset) + array.tobytes())
        if offset:
            table["offset"] = offset
        if self._chance(0.3):
            table["nan"] = self._random.choice(("allow", "warn", "reject"))
        return table

    def _new_file(self, ending):
        self._files += 1
        return f"table-{self._number}-{self._files}{ending}"

    def _vector(self, count):
        name = self._new_file(".npy")
        np.save(self._folder / name, np.ones(count, np.float32))
        return {"file": name}

    def _token(self):
        random, says = self._random, self._says
        says.vocab_size, says.embedding_dim = random.randint(1, 30), random.randint(1, 20)
        if self._chance(0.5):
            token = self._seeded(table_pb2.TABLE_KIND_TOKEN, says.vocab_size, "vocab_size")
        else:
            token = self._file(table_pb2.TABLE_KIND_TOKEN, says.vocab_size)
            if self._chance(0.3):
                token["vocabulary"] = self._new_file(".txt")
                words = "".join(f"word{i}\n" for i in range(says.vocab_size))
                (self._folder / token["vocabulary"]).write_text(words)
                says.vocabulary_words = says.vocab_size
        drawn = random.random()
        if drawn < 0.2:
            token["dropout_mask_id"] = says.dropout_mask_id = random.randrange(says.vocab_size)
        elif drawn < 0.6:
            self._scale(token)
        drawn = random.random()
        if drawn < 0.3:
            token["out_of_range"] = "zero"
            says.out_of_range = pb.OUT_OF_RANGE_POLICY_ZERO
        elif drawn < 0.6:
            says.unk_id = random.randrange(says.vocab_size)
            token["out_of_range"] = {"unk": says.unk_id}
            says.out_of_range = pb.OUT_OF_RANGE_POLICY_UNK
        elif drawn < 0.7:
            token["out_of_range"] = "error"
        self._entry["token"] = token

    def _scale(self, token):
        token["scale"] = self._random.choice(("sqrt_dim", 0.1, -3, 2, 1e-30))
        factor = np.float32(math.sqrt(self._says.embedding_dim) if token["scale"] == "sqrt_dim" else token["scale"])
        if self._chance(0.5):
            token["scale_rounding"] = self._random.choice(("float32", "weight_dtype"))
            kind = token.get("dtype", "float32")
            if token["scale_rounding"] == "weight_dtype" and kind in ("float16", "bfloat16"):
                factor = elements.widen(elements.raw(np.array([factor]), kind), kind)[0]
        self._says.token_scale = float(factor)

    def _position(self):
        kind = self._random.choice(("learned", "sinusoidal", "rotary", "none", "absent"))
        if kind == "none":
            self._entry["position"] = self._random.choice(("none", {"none": {}}))
        elif kind == "rotary":
            self._entry["position"] = {"rotary": self._rotary()}
        elif kind != "absent":
            self._table_of_positions(kind)

    def _table_of_positions(self, kind):
        random, says = self._random, self._says
        numberings = ["sequential", "fixed", "mask"] + ["padding"] * says.HasField("padding_idx")
        numbering = random.choice(numberings)
        says.numbering = _NUMBERINGS[numbering]
        position = {"numbering": numbering} if numbering != "sequential" or self._chance(0.5) else {}
        if numbering == "mask" or self._chance(0.3):
            position["row_offset"] = says.row_offset = random.randint(1, 3)
        uncounted = says.row_offset + (says.padding_idx + 1 if numbering == "padding" else 0)
        rows = uncounted + random.randint(1, 40)
        if kind == "sinusoidal":
            position["sinusoidal"], end = self._sinusoidal(rows)
        elif self._chance(0.5):
            position["learned"], end = self._seeded(table_pb2.TABLE_KIND_POSITION, rows, "max_context_length"), rows
        else:
            position["learned"], end = self._file(table_pb2.TABLE_KIND_POSITION, rows), rows
        says.max_context_length = end - uncounted
        says.position_encoding = getattr(pb, f"POSITION_ENCODING_{kind.upper()}")
        self._entry["position"] = position

    def _sinusoidal(self, rows):
        random, dim = self._random, self._says.embedding_dim
        layouts = ["half"] + ["interleaved"] * (dim % 2 == 0) + ["tensor2tensor"] * (dim not in (2, 3))
        layout = random.choice(layouts)
        base = random.choice((10000, 0.5, 1e9))
        self._says.sinusoidal_base, self._says.sinusoidal_layout = base, _LAYOUTS[layout]
        first = rows
        formula = {"layout": layout} if layout != "interleaved" or self._chance(0.5) else {}
        if base != 10000 or self._chance(0.5):
            formula["base"] = base
        if rows > 1 and self._chance(0.4):
            first, formula["grow_to"] = random.randint(1, rows - 1), rows
        self._add_table(table_pb2.TABLE_KIND_POSITION, "float32", first, trainable=False)
        return formula | {"max_context_length": first}, rows

    def _rotary(self):
        rotation = rotations.draw_rotation(self._random, self._random.choice(KINDS))
        entry, parameters = rotations.entry(rotation), rotations.parameters(rotation)
        if not rotation.kind:
            parameters.ClearField("scaling")
        elif self._chance(0.3):
            entry["scaling"]["rope_type"] = entry["scaling"].pop("type")
        parameters.rotary_dim = rotation.rotary_dim or rotation.head_dim
        parameters.pairing = parameters.pairing or rotary_pb2.ROTARY_PAIRING_HALF
        self._says.rotary.CopyFrom(parameters)
        self._says.position_encoding = pb.POSITION_ENCODING_ROTARY
        for layer in self._random.sample(("full_attention", "sliding attention", "0"), self._random.choice((0, 0, 2))):
            other, theta = entry.setdefault("layer_types", {}), self._random.choice((1234.5, 2))
            other[layer] = {"theta": theta}
            said = self._says.rotary_layer_types.add(layer_type=layer, parameters=parameters)
            said.parameters.theta = theta
            if self._chance(0.5):
                other[layer] |= {"scaling": {"type": "default"}, "pairing": "interleaved"}
                said.parameters.scaling.Clear()
                said.parameters.scaling.type = "default"
                said.parameters.pairing = rotary_pb2.ROTARY_PAIRING_INTERLEAVED
        self._says.rotary_layer_types.sort(key=lambda layer: layer.layer_type)
        return entry

    def _types(self):
        drawn = self._random.random()
        if drawn < 0.4:
            return
        rows = self._random.randint(1, 4)
        if drawn < 0.5:
            self._entry["token_type"] = "none"
            return
        if drawn < 0.65:
            types = {"shared": True}
            self._says.token_types_share_token_table = self._says.token_types_only_when_sent = True
        elif drawn < 0.8:
            types = self._seeded(table_pb2.TABLE_KIND_TOKEN_TYPE, rows, "type_vocab_size")
        else:
            types = self._file(table_pb2.TABLE_KIND_TOKEN_TYPE, rows, raw=False)
        self._says.has_token_types = True
        if self._chance(0.4):
            types["only_when_sent"] = self._says.token_types_only_when_sent = self._chance(0.5)
        self._entry["token_type"] = types

    def _norm(self):
        drawn = self._random.random()
        if drawn < 0.5:
            return
        if drawn < 0.6:
            self._entry["layer_norm"] = "none"
            return
        norm = {"weight": self._vector(self._says.embedding_dim)}
        if self._chance(0.5):
            norm["bias"] = self._vector(self._says.embedding_dim)
        self._says.layer_norm_eps = 1e-5
        if self._chance(0.6):
            norm["eps"] = self._says.layer_norm_eps = self._random.choice((0, 1e-12, 0.5))
        self._entry["layer_norm"] = norm

    def _rules(self):
        if self._chance(0.4):
            order = self._random.choice(("type_first", "position_first"))
            self._entry["sum_order"], self._says.position_before_type = order, order == "position_first"
        for key in ("zero_masked", "saturate"):
            if self._chance(0.3):
                self._entry[key] = self._chance(0.5)
                setattr(self._says, key, self._entry[key])
        if self._chance(0.3):
            length = self._random.choice((1, 512, 2**62))
            self._entry["trained_context_length"] = self._says.trained_context_length = length

    def _output(self):
        if self._chance(0.6):
            return
        output, says = {}, self._says
        if self._chance(0.4):
            output["tied"] = says.output_tied = self._chance(0.5)
        if self._chance(0.4):
            output["scale"] = says.output_scale = self._random.choice((0.25, 3))
        if self._chance(0.4):
            output["softcap"] = self._random.choice(("none", 30, 1.5))
            if output["softcap"] != "none":
                says.output_softcap = output["softcap"]
        if self._chance(0.4):
            output["bias"] = self._random.choice(("none", self._vector(says.vocab_size)))
            says.has_output_bias = output["bias"] != "none"
        if output:
            self._entry["output"] = output
