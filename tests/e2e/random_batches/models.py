"""Random models, spelled out in YAML, and what is needed to compute by hand what they must answer."""

import dataclasses
import math

import numpy as np
import yaml

from random_batches import elements
from support.stubs import rotary_pb2

LONGEST = 150  # T of the requests: rows are composed in blocks of 128
# So low that a small request can break them; no valid one that is drawn does.
LIMITS = {"max_batch_size": 40, "max_sequence_length": 250, "max_response_bytes": 1 << 20}


@dataclasses.dataclass
class Model:
    """The rules of a model in the words of the protos, and its tables as float32."""

    name: str
    dim: int
    vocab_size: int
    stored: str = "float32"  # the type of the token table
    token: np.ndarray = None
    position: np.ndarray = None
    types: np.ndarray = None
    only_when_sent: bool = False
    scale: np.float32 = np.float32(1)
    numbering: str = "sequential"
    row_offset: int = 0
    padding_idx: int = None
    position_first: bool = False
    out_of_range: object = "error"  # or "zero", or the id that stands in
    zero_masked: bool = False
    saturate: bool = False
    dropout_mask_id: int = None
    trained: int = None
    norm: tuple = None  # weight, bias, eps
    rows: int = 0  # of the position table
    shares_tokens: bool = False
    encoding: str = "none"  # of positions
    turned: object = None  # RotaryParameters of a rotary encoding

    @property
    def room(self):
        """How many positions there are, or None."""
        if self.rows == 0:
            return None
        return self.rows - self.row_offset - (self.padding_idx + 1 if self.numbering == "padding" else 0)

    @property
    def has_types(self):
        return self.types is not None or self.shares_tokens


class ModelMaker:
    """Draws models. Seeded and computed tables are read from plain helper models, served beside them."""

    def __init__(self, random, folder):
        self._random = random
        self._folder = folder
        self._helpers = []  # (model, field, helper, rows)
        self._entries = []
        self.models = []

    def add_entry(self, entry):
        """One more model of the configuration, which is none of `models`."""
        self._entries.append(entry)

    def names(self):
        """Of all models of the configuration."""
        return [entry["name"] for entry in self._entries]

    def yaml(self):
        return yaml.safe_dump({"server": {"limits": LIMITS}, "models": self._entries})

    def add(self):
        """Draws one more model."""
        random = self._random
        model = Model(f"random-{len(self.models)}", random.randint(1, 70), random.randint(4, 40))
        entry = {"name": model.name}
        if random.random() < 0.6:
            model.padding_idx = entry["padding_idx"] = random.randrange(4)
        entry["token"] = self._token(model)
        entry |= self._position(model) | self._types(model) | self._norm(model)
        if random.random() < 0.4:
            model.position_first, entry["sum_order"] = True, "position_first"
        if random.random() < 0.3:
            model.zero_masked = entry["zero_masked"] = True
        if random.random() < 0.3:
            model.saturate = entry["saturate"] = True
        if random.random() < 0.3:
            model.trained = entry["trained_context_length"] = random.randint(1, LONGEST)
        self._entries.append(entry)
        self.models.append(model)

    def fetch_tables(self, client):
        """Takes the tables from the helper models."""
        for model, field, helper, rows in self._helpers:
            if field == "token":
                table = client.embed(helper, [range(rows)])
            elif field == "position":
                table = client.positions(helper, 1, rows)
            else:
                table = client.embed(helper, [[0] * rows], token_type_ids=range(rows))
            setattr(model, field, table[0])
        for model in self.models:
            if model.shares_tokens:
                model.types = model.token

    def _help(self, model, field, rows, entry):
        name = f"helper-{len(self._helpers)}"
        self._helpers.append((model, field, name, rows))
        self._entries.append({"name": name, **entry})

    def _seeded(self, model, field, rows, seed):
        """A helper model for a seeded table."""
        zeros = {"seeded": {"vocab_size": 1, "embedding_dim": model.dim, "std": 0}}
        if field == "token":
            entry = {"token": {"seeded": {"vocab_size": rows, "embedding_dim": model.dim, "seed": seed}}}
        elif field == "position":
            learned = {"seeded": {"max_context_length": rows, "seed": seed}}
            entry = {"token": zeros, "position": {"learned": learned}}
        else:
            entry = {"token": zeros, "token_type": {"seeded": {"type_vocab_size": rows, "seed": seed}}}
        self._help(model, field, rows, entry)

    def _table(self, model, field, rows, rows_key):
        """The map of a table: seeded, or a file of random numbers of a random type."""
        random = self._random
        seed = random.getrandbits(64)
        if random.random() < 0.4:
            self._seeded(model, field, rows, seed)
            return {"seeded": {rows_key: rows, "seed": seed}}
        # Token types have no key for what a .bin file holds.
        kind = random.choice(("float32", "float16", "float64") if field == "types" else elements.STORED)
        values = np.random.default_rng(seed).standard_normal((rows, model.dim)) * 10.0 ** random.randint(-6, 3)
        stored = elements.raw(values, kind)
        setattr(model, field, elements.widen(stored, kind))
        if field == "types":
            return {"file": self._save(model, field, stored)}
        path = self._folder / f"{model.name}-{field}.bin"
        offset = stored.itemsize * random.choice((0, 0, 1, 1027))
        path.write_bytes(b"\xff" * offset + stored.tobytes())
        if field == "token":
            model.stored = kind
        raw = {"dtype": kind, "shape": [rows, model.dim], "offset": offset}
        return {"file": str(path), "mmap": random.random() < 0.5, **raw}

    def _token(self, model):
        random = self._random
        token = self._table(model, "token", model.vocab_size, "vocab_size")
        if "seeded" in token:
            token["seeded"]["embedding_dim"] = model.dim
        drawn = random.random()
        if drawn < 0.25:
            model.dropout_mask_id = token["dropout_mask_id"] = random.randrange(model.vocab_size)
        elif drawn < 0.75:
            self._scale(model, token)
        drawn = random.random()
        if drawn < 0.25:
            model.out_of_range = token["out_of_range"] = "zero"
        elif drawn < 0.5:
            model.out_of_range = random.randrange(model.vocab_size)
            token["out_of_range"] = {"unk": model.out_of_range}
        return token

    def _scale(self, model, token):
        random = self._random
        token["scale"] = random.choice(("sqrt_dim", random.uniform(-20, 20), 0.1, 1))
        model.scale = np.float32(math.sqrt(model.dim) if token["scale"] == "sqrt_dim" else token["scale"])
        if random.random() < 0.5:
            token["scale_rounding"] = "weight_dtype"
            if model.stored in ("float16", "bfloat16"):
                rounded = elements.raw(np.array([model.scale]), model.stored)
                model.scale = elements.widen(rounded, model.stored)[0]

    def _position(self, model):
        random = self._random
        kind = random.choice(("learned", "learned", "sinusoidal", "sinusoidal", "rotary", "none", "absent"))
        if kind == "absent":
            return {}
        model.encoding = kind
        if kind == "rotary":
            model.turned = rotary_pb2.RotaryParameters(head_dim=8)
            return {"position": {"rotary": {"head_dim": 8}}}
        if kind == "none":
            return {"position": "none"}
        position = self._numbering(model)
        model.rows = model.row_offset + 5 + LONGEST + random.randint(0, 20)
        if kind == "learned":
            position["learned"] = self._table(model, "position", model.rows, "max_context_length")
        else:
            position["sinusoidal"] = self._sinusoidal(model)
        return {"position": position}

    def _numbering(self, model):
        random = self._random
        kinds = ["sequential", "fixed", "mask"] + ["padding"] * (model.padding_idx is not None)
        model.numbering = random.choice(kinds)
        if model.numbering == "mask" or random.random() < 0.3:
            model.row_offset = random.randint(1, 3)
        position = {"row_offset": model.row_offset} if model.row_offset else {}
        if model.numbering != "sequential" or random.random() < 0.5:
            position["numbering"] = model.numbering
        return position

    def _sinusoidal(self, model):
        random = self._random
        layouts = ["half"] + ["tensor2tensor"] * (model.dim not in (2, 3)) + ["interleaved"] * (model.dim % 2 == 0)
        formula = {"base": random.choice((10000, 100.5, 2)), "layout": random.choice(layouts)}
        zeros = {"seeded": {"vocab_size": 4, "embedding_dim": model.dim, "std": 0}}
        helper = {"token": zeros, "position": {"sinusoidal": {**formula, "max_context_length": model.rows}}}
        if model.padding_idx is not None:
            helper["padding_idx"] = model.padding_idx
        self._help(model, "position", model.rows, helper)
        if random.random() < 0.5:
            return {**formula, "max_context_length": model.rows}
        return {**formula, "max_context_length": random.randint(1, model.rows - 1), "grow_to": model.rows}

    def _types(self, model):
        random = self._random
        drawn = random.random()
        if drawn < 0.4:
            return {}
        if drawn < 0.55:
            types = {"shared": True}
            model.shares_tokens = model.only_when_sent = True
        else:
            rows = random.randint(1, 5)
            types = self._table(model, "types", rows, "type_vocab_size")
        if random.random() < 0.5:
            model.only_when_sent = types["only_when_sent"] = random.random() < 0.5
        return {"token_type": types}

    def _norm(self, model):
        random = self._random
        if random.random() < 0.65:
            return {}
        draw = np.random.default_rng(random.getrandbits(64))
        weight = draw.standard_normal(model.dim).astype(np.float32)
        bias = np.zeros(model.dim, np.float32)
        norm = {"weight": {"file": self._save(model, "weight", weight)}}
        if random.random() < 0.7:
            bias = draw.standard_normal(model.dim).astype(np.float32)
            norm["bias"] = {"file": self._save(model, "bias", bias)}
        eps = random.choice((1e-12, 1e-5, 0.5))
        if eps != 1e-5 or random.random() < 0.5:
            norm["eps"] = eps
        model.norm = (weight, bias, eps)
        return {"layer_norm": norm}

    def _save(self, model, name, vector):
        path = self._folder / f"{model.name}-{name}.npy"
        np.save(path, vector)
        return str(path)
