"""Valid configurations with a model that cannot be loaded: what only its tables show."""

import copy

import numpy as np

from random_configs.breaking import NothingToBreak


def spoil(random, config, folder):
    """A configuration of which one model cannot be loaded: the content, the model's name, and words of the message."""
    content = copy.deepcopy(config.content)
    content.pop("server", None)
    if "models" not in content:
        raise NothingToBreak
    for model in content["models"]:
        model.pop("required", None)
    number = random.randrange(len(content["models"]))
    model, said = content["models"][number], config.descriptions[number]
    words = random.choice(_RULES)(random, model, said, folder)
    return content, model["name"], words


def _save(folder, *shape, kind=np.float32):
    name = f"spoilt-{'x'.join(map(str, shape))}.npy"
    np.save(folder / name, np.ones(shape, kind))
    return name


def _no_file(random, model, said, folder):
    where, others = random.choice(
        (
            (lambda: model["token"], {}),
            (lambda: model.setdefault("position", {})["learned"], {"position": {"learned": {}}}),
            (lambda: model["token_type"], {"token_type": {}}),
            (lambda: model["layer_norm"]["weight"], {"layer_norm": {"weight": {}}}),
            (lambda: model["output"]["bias"], {"output": {"bias": {}}}),
        )
    )
    model |= others
    table = where()
    table.clear()
    table["file"] = random.choice(("nope.npy", "no/such/folder.bin", "é.safetensors"))
    if table["file"].endswith(".bin"):
        table["file"] = "nope.npy"
    return (f"{folder / table['file']}: cannot open the file: No such file or directory",)


def _norm_of_other_width(random, model, said, folder):
    dim, wrong = said.embedding_dim, said.embedding_dim + random.choice((1, 5))
    key = random.choice(("weight", "bias"))
    model["layer_norm"] = {"weight": {"file": _save(folder, dim)}}
    model["layer_norm"][key] = {"file": _save(folder, wrong)}
    return (f"layer_norm.{key} has {wrong} elements, embedding_dim is {dim}",)


def _table_of_other_width(random, model, said, folder):
    dim, wrong = said.embedding_dim, said.embedding_dim + random.choice((1, 5))
    file = {"file": _save(folder, 60, wrong)}
    if random.random() < 0.5:
        model["token_type"], noun = file, "token type tables"
        return (f"token and {noun} must share embedding_dim ({dim} vs {wrong})",)
    model["position"] = {"learned": file}
    return (f"token and position tables must share embedding_dim ({dim} vs {wrong})",)


def _id_outside(random, model, said, folder):
    rows = said.vocab_size
    key = random.choice(("padding_idx", "dropout_mask_id", "unk"))
    wrong = rows + random.choice((0, 1, 1000))
    model["token"] = {"file": _save(folder, rows, said.embedding_dim)}
    if key == "unk":
        model["token"]["out_of_range"] = {"unk": wrong}
        key = "out_of_range: unk"
    elif key == "padding_idx":
        model[key] = wrong
    else:
        model["token"][key] = wrong
    return (f"{key} = {wrong} is outside [0, {rows}), the rows of the token table",)


def _no_position_left(random, model, said, folder):
    numbering = random.choice(("sequential", "mask", "padding"))
    padding = random.randrange(said.vocab_size)
    model["padding_idx"] = padding
    first = random.randint(1, 3)
    begins = first + (padding + 1 if numbering == "padding" else 0)
    rows = random.randint(1, begins)
    learned = {"file": _save(folder, rows, said.embedding_dim)}
    model["position"] = {"learned": learned, "numbering": numbering, "row_offset": first}
    return (f"the position table has {rows} rows, but numbering {numbering} begins at row {begins}",)


def _file_of_other_size(random, model, said, folder):
    rows, dim = said.vocab_size, said.embedding_dim
    (folder / "short.bin").write_bytes(bytes(rows * dim * 4))
    model["token"] = {"file": "short.bin", "dtype": "float32", "shape": [rows, dim], "offset": random.choice((4, 64))}
    if random.random() < 0.5:
        model["token"] |= {"shape": [rows + 1, dim], "offset": 0}
    return (f"{folder / 'short.bin'}: ", "bytes")


def _file_of_other_type(random, model, said, folder):
    rows, dim = said.vocab_size, said.embedding_dim
    name = _save(folder, rows, dim)
    model["token"] = {"file": name, "dtype": "float16", "shape": [rows, dim]}
    if random.random() < 0.5:
        model["token"] |= {"dtype": "float32", "shape": [rows, dim + 1]}
    return (f"{folder / name}: ",)


def _nan(random, model, said, folder):
    table = np.zeros((said.vocab_size, said.embedding_dim), np.float32)
    row, column = random.randrange(said.vocab_size), random.randrange(said.embedding_dim)
    table[row, column] = np.nan
    np.save(folder / "nan.npy", table)
    model["token"] = {"file": "nan.npy", "nan": "reject"}
    return (f"{folder / 'nan.npy'}: the table holds 1 NaN, the first one in row {row}, column {column}",)


def _impossible_rotation(random, model, said, folder):
    scaling, words = random.choice(
        (
            ({"type": "linear"}, "scaling of type linear needs factor"),
            ({"type": "dynamic", "factor": 2}, "scaling of type dynamic needs max_position_embeddings"),
            ({"type": "llama3", "factor": 2}, "scaling of type llama3 needs low_freq_factor"),
            ({"type": "yarn", "factor": 2}, "scaling of type yarn needs original_max_position_embeddings"),
            ({"type": "longrope", "short_factor": [1, 1]}, "scaling of type longrope needs long_factor"),
        )
    )
    model["position"] = {"rotary": {"head_dim": 4, "scaling": scaling}}
    return (f"position.rotary: {words}",)


def _words_without_rows(random, model, said, folder):
    rows = said.vocab_size
    (folder / "words.txt").write_text("".join(f"w{i}\n" for i in range(rows + 1)))
    model["token"] = {"file": _save(folder, rows, said.embedding_dim), "vocabulary": "words.txt"}
    return (f"{folder / 'words.txt'}: has {rows + 1} words, the table has {rows} row",)


def _bias_of_other_length(random, model, said, folder):
    rows = said.vocab_size + random.choice((1, 7))
    model["output"] = {"bias": {"file": _save(folder, rows)}}
    return (f"output.bias has {rows} elements, vocab_size is {said.vocab_size}",)


_RULES = (
    *(_no_file, _norm_of_other_width, _table_of_other_width, _id_outside, _no_position_left),
    *(_file_of_other_size, _file_of_other_type, _nan, _impossible_rotation, _words_without_rows),
    _bias_of_other_length,
)
