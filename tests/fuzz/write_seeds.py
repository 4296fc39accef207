"""Writes the first seeds of every fuzzer into seeds/. What fuzzing has found stands there beside them.

    /usr/bin/python3 tests/fuzz/write_seeds.py
"""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE / "seeds"
GOLDEN = HERE.parent / "golden" / "formats"
AS_IT_IS, LAID_OUT = b"\x00", b"\x01"


def write(fuzzer, name, data):
    folder = SEEDS / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy():
    for path in GOLDEN.glob("*.npy"):
        if path.stem.startswith(("v1_f2", "v1_f4", "v2_f8", "v3_f4", "refused")):
            write("npy", path.stem, AS_IT_IS + path.read_bytes())
    for version, (descr, order, shape, data) in enumerate(
        [("'<f4'", "False", "(2, 3)", 24), ("'>f8'", "True", "(3, 2)", 48), ("'<f2'", "False", "(1, 4)", 8)], 1
    ):
        header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"
        way = bytes([1 | version << 1])
        write("npy", f"header_{version}", way + struct.pack("<H", data) + header.encode())


def safetensors():
    write("safetensors", "mixed", AS_IT_IS + (GOLDEN / "mixed.safetensors").read_bytes())
    entry = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
    second = {"dtype": "BF16", "shape": [4, 1], "data_offsets": [24, 32]}
    headers = {
        "one": ({"a": entry}, 24),
        "two": ({"a": entry, "b.weight": second, "__metadata__": {"format": "pt"}}, 32),
        "empty": ({}, 0),
        "scalar": ({"s": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}}, 8),
        "no_rows": ({"z": {"dtype": "F16", "shape": [0, 2], "data_offsets": [0, 0]}}, 0),
        "sub_byte": ({"q": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}}, 2),
        "hole": ({"a": entry, "b": {"dtype": "F32", "shape": [1], "data_offsets": [28, 32]}}, 32),
        "overflow": ({"a": {"dtype": "F32", "shape": [2, 2**63 - 1], "data_offsets": [0, 8]}}, 8),
    }
    for name, (header, data) in headers.items():
        text = json.dumps(header, separators=(",", ":")).encode()
        write("safetensors", name, LAID_OUT + struct.pack("<H", data) + text)
        write("safetensors", name + "_file", AS_IT_IS + struct.pack("<Q", len(text)) + text + bytes(data))


def checkpoint_index():
    for name, weight_map in {
        "one": {"a": "1.safetensors"},
        "two": {"a": "1.safetensors", "b": "2.safetensors"},
        "elsewhere": {"a": "../1.safetensors"},
        "pickle": {"a": "pytorch_model.bin"},
        "none": {},
        "long_name_of_a_shard": {"a": "x" * 600 + ".safetensors"},
    }.items():
        write("checkpoint_index", name, json.dumps({"metadata": {"total_size": 24}, "weight_map": weight_map}).encode())


def gguf():
    for path in GOLDEN.glob("*.gguf"):
        if path.stat().st_size > 4096:
            continue
        write("gguf", path.stem, AS_IT_IS + path.read_bytes())

    def text(value):
        return b"\x01" + bytes([len(value)]) + value  # a name of its own

    usual = b"\x00"
    pair = usual + b"\x04" + struct.pack("<I", 32)
    tensor = usual + b"\x02" + struct.pack("<HH", 4, 3) + b"\x00" + b"\x00" + b"\x00"
    write("gguf", "laid_out", LAID_OUT + struct.pack("<H", 64) + b"\x01\x01\x01" + pair + tensor)
    array = text(b"words") + b"\x09" + b"\x08" + b"\x02" + b"\x01a" + b"\x01b"
    two = tensor + text(b"b") + b"\x01" + struct.pack("<H", 32) + b"\x00" + b"\x02" + b"\x08"
    write("gguf", "laid_out_two", LAID_OUT + struct.pack("<H", 256) + b"\x02\x02\x01" + pair + array + two)


def word_vectors():
    texts = {
        "glove": "the 1 2 3\nof 0.5 -1e-3 4\n",
        "word2vec": "2 3\nthe 1 2 3\nof 4 5 6\n",
        "spaces": ". . . 1 2\nat name@domain.com 3 4\n",
        "tabs": "a\t1\t2\r\nb\t3\t4\r\n",
        "odd_numbers": "a nan inf\nb -inf 1e39\nc 0x1p3 1e-46\n",
        "blank_lines": "a 1\n\n\n",
        "bytes": "\udcff\udcfe 1 2\n\x00 3 4\n",
    }
    for name, value in texts.items():
        write("word_vectors", name, value.encode("utf-8", "surrogateescape"))


def vocabulary():
    def first(rows, is_json):
        return bytes([(rows - 1) << 1 | is_json])

    write("vocabulary", "lines", first(3, 0) + b"the\nof\nand\n")
    write("vocabulary", "lines_bytes", first(2, 0) + b"\xff\r\n\n")
    write("vocabulary", "json_list", first(3, 1) + b'["the", "of", "\\u00e9\\ud83d\\ude00"]')
    write("vocabulary", "json_map", first(3, 1) + b'{"the": 0, "and": 2, "of": 1}')
    write("vocabulary", "json_twice", first(2, 1) + b'{"a": 0, "a": 1}')


def model_folder():
    def folder(name, config, tensors):
        text = json.dumps(config, separators=(",", ":")) + "\n---\n" + "\n".join(tensors)
        write("model_folder", name, text.encode())

    bert = {"vocab_size": 10, "hidden_size": 4, "max_position_embeddings": 8, "type_vocab_size": 2, "pad_token_id": 0}
    below = ["word_embeddings.weight F32 10 4", "position_embeddings.weight F32 8 4", "token_type_embeddings.weight F32 2 4",
             "LayerNorm.weight F32 4", "LayerNorm.bias F32 4"]
    folder("gpt2", {"model_type": "gpt2", "n_embd": 4, "n_positions": 8, "vocab_size": 10},
           ["wte.weight F32 10 4", "wpe.weight F32 8 4"])
    for prefix in ("", "bert."):
        folder(f"bert_{len(prefix)}", {"model_type": "bert", "layer_norm_eps": 1e-12, **bert},
               [f"{prefix}embeddings.{line}" for line in below])
    folder("roberta", {"model_type": "roberta", **bert, "pad_token_id": 1, "type_vocab_size": 1},
           [f"roberta.embeddings.{line}" for line in below])
    llama = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 10,
             "max_position_embeddings": 64, "rope_theta": 5e5, "tie_word_embeddings": False,
             "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                              "original_max_position_embeddings": 32}}
    folder("llama", llama, ["model.embed_tokens.weight BF16 10 8", "lm_head.weight BF16 10 8"])
    gemma = {"model_type": "gemma2", "hidden_size": 8, "head_dim": 4, "vocab_size": 10, "final_logit_softcapping": 30.0}
    folder("gemma2", gemma, ["model.embed_tokens.weight F16 10 8"])
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32}
    folder("qwen2", {**llama, "model_type": "qwen2", "rope_scaling": yarn}, ["model.embed_tokens.weight F32 10 8"])
    folder("t5", {"model_type": "t5", "d_model": 4, "vocab_size": 10}, ["shared.weight F32 10 4"])
    folder("strange_type", {"model_type": "gemma4\x7f"}, ["a.weight F32 10 4"])
    strange = {"full_attention": {"rope_theta": 1e4}, "a\nb\x7f" + "é" * 99: {"rope_theta": 1e3, "a\nb": 1}}
    folder("strange_keys", {**llama, "rope_scaling": None, "rope_parameters": strange}, ["embed_tokens.weight F32 10 8"])
    folder("unknown", {"model_type": "nobody", "hidden_size": 4}, ["a.weight F32 10 4"])


def gguf_model():
    def model(name, pairs, tensors):
        write("gguf_model", name, "\n".join([*pairs, "---", *tensors]).encode())

    llama = ["general.architecture text llama", "llama.embedding_length u32 8", "llama.attention.head_count u32 2",
             "llama.context_length u32 64", "llama.rope.freq_base f32 5e5", "llama.vocab_size u32 10"]
    tokens = ["token_embd.weight 10 8", "output.weight 10 8"]
    model("llama", llama, tokens)
    yarn = ["llama.rope.scaling.type text yarn", "llama.rope.scaling.factor f32 4",
            "llama.rope.scaling.original_context_length u32 16", "llama.rope.dimension_count u32 4"]
    model("llama_yarn", llama + yarn, tokens)
    model("llama_frequencies", llama, [*tokens, "rope_freqs.weight 2"])
    model("gpt2", ["general.architecture text gpt2", "gpt2.context_length u32 8"],
          ["token_embd.weight 10 4", "position_embd.weight 8 4"])
    model("bert", ["general.architecture text bert", "bert.context_length u32 8",
                   "bert.attention.layer_norm_epsilon f32 1e-12"],
          ["token_embd.weight 10 4", "position_embd.weight 8 4", "token_types.weight 2 4", "token_embd_norm.weight 4",
           "token_embd_norm.bias 4"])
    model("gemma2", ["general.architecture text gemma2", "gemma2.attention.key_length u32 4",
                     "gemma2.final_logit_softcapping f32 30", "gemma2.vocab_size u32 10"], tokens)
    model("unknown", ["general.architecture text a\x7fb", "general.name text é"], tokens)
    model("strange_values", ["general.architecture text qwen2", "qwen2.rope.scaling.type text a\x7fb"], tokens)


def config():
    docs = HERE.parent.parent / "docker"
    for path in sorted(docs.rglob("*.yaml")) + sorted(docs.rglob("*.yml")):
        if path.stat().st_size < 4096 and "models:" in path.read_text(encoding="utf-8"):
            write("config", path.stem, path.read_bytes())
    every = (HERE.parent / "unit" / "config" / "mutated_files_test.cc").read_text(encoding="utf-8")
    write("config", "every_setting", every.split('R"(\n')[1].split('\n)"')[0].encode() + b"\n")
    write("config", "json", b'{"models": [{"name": "a", "token": {"seeded": {"vocab_size": 3, "embedding_dim": 2}}}]}')
    write("config", "escapes", rb'"[\0i\N\_\L\xe9:"')
    write("config", "alias", b"models:\n  - &a { name: a, path: x.npy }\n  - { name: b, token: { file: b.npy } }\n")


def requests():
    sys.path.insert(0, str(HERE.parent / "e2e"))
    from support.oip import pb as oip  # pylint: disable=import-outside-toplevel
    from support.stubs import embedding_pb2, rotary_pb2, tensor_pb2  # pylint: disable=import-outside-toplevel

    def ids(model, rows, **more):
        flat = [i for row in rows for i in row]
        return embedding_pb2.EmbedRequest(
            model=model, ids=flat, batch_size=len(rows), sequence_length=len(rows[0]), **more)

    embeds = {
        "tiny": ids("tiny", [[1, 2, 3], [9, 0, 1]]),
        "types": ids("tiny", [[1, 2]], token_type_ids=[0, 1]),
        "masked": ids("masked", [[0, 0, 5, 6]], attention_mask=[0, 0, 1, 1]),
        "padded": ids("padded", [[7, 8, 1, 1]]),
        "ragged": embedding_pb2.EmbedRequest(model="tiny", ids=[1, 2, 3, 4], row_lengths=[3, 0, 1]),
        "packed": embedding_pb2.EmbedRequest(model="tiny", ids=[1, 2, 3], row_lengths=[1, 2], ragged_layout=2),
        "left": embedding_pb2.EmbedRequest(model="masked", ids=[1, 2, 3], row_lengths=[1, 2], padding_side=2),
        "half": ids("turned", [[1, 12]], output_type=2),
        "unique": ids("tiny", [[1, 1, 2]], unique=True, part=embedding_pb2.PART_TOKEN),
        "positions": embedding_pb2.EmbedRequest(model="tiny", part=embedding_pb2.PART_POSITION, batch_size=1,
                                                sequence_length=8),
        "offsets": ids("tiny", [[1], [2]], position_offsets=[7, 0]),
        "position_ids": ids("tiny", [[1, 2]], position_ids=[7, 0]),
        "given": embedding_pb2.EmbedRequest(
            model="tiny", batch_size=1, sequence_length=1,
            inputs_embeds=tensor_pb2.Tensor(data_type=tensor_pb2.DATA_TYPE_FLOAT32, shape=[1, 1, 4], data=bytes(16))),
        "ids_tensor": embedding_pb2.EmbedRequest(
            model="tiny",
            ids_tensor=tensor_pb2.Tensor(data_type=tensor_pb2.DATA_TYPE_INT32, shape=[1, 2], data=bytes(8))),
    }
    for name, request in embeds.items():
        write("embed", name, request.SerializeToString(deterministic=True))
        items = [embedding_pb2.EmbedStreamRequest(request_id=str(i), request=item) for i, item in enumerate([request, embeds["tiny"]])]
        framed = b"".join(struct.pack("<H", len(i)) + i for i in (item.SerializeToString(deterministic=True) for item in items))
        write("embed_stream", name, framed)

    vectors = tensor_pb2.Tensor(data_type=tensor_pb2.DATA_TYPE_FLOAT32, shape=[1, 2, 4], data=bytes(range(32)))
    parameters = rotary_pb2.RotaryParameters(head_dim=4, theta=10000)
    rotations = {
        "model": rotary_pb2.RotateRequest(model="turned", vectors=vectors),
        "layer": rotary_pb2.RotateRequest(model="turned", layer_type="local", vectors=vectors, inverse=True),
        "parameters": rotary_pb2.RotateRequest(parameters=parameters, vectors=vectors, position_offsets=[5]),
        "axis": rotary_pb2.RotateRequest(parameters=parameters, vectors=vectors, sequence_axis=0, position_ids=[9]),
        "split": rotary_pb2.RotateRequest(parameters=parameters, vectors=vectors, output_layout=2, output_type=2),
    }
    for kind, more in {"linear": {}, "dynamic": {"original_max_position_embeddings": 4}, "yarn": {"beta_fast": 32},
                       "longrope": {"short_factor": [1, 2], "long_factor": [2, 3]}, "proportional": {}}.items():
        scaled = rotary_pb2.RotaryParameters(
            head_dim=4, scaling=rotary_pb2.RotaryScaling(type=kind, factor=2, **more))
        rotations[kind] = rotary_pb2.RotateRequest(parameters=scaled, vectors=vectors, scaling_length=40)
    for name, request in rotations.items():
        write("rotate", name, request.SerializeToString(deterministic=True))

    def infer(model, *inputs, raw=True, **more):
        request = oip.ModelInferRequest(model_name=model, **more)
        for name, datatype, shape, values in inputs:
            tensor = request.inputs.add(name=name, datatype=datatype, shape=shape)
            if raw:
                code = {"INT64": "q", "INT32": "i", "FP32": "f"}[datatype]
                request.raw_input_contents.append(struct.pack(f"<{len(values)}{code}", *values))
            else:
                field = {"INT64": "int64_contents", "INT32": "int_contents", "FP32": "fp32_contents"}[datatype]
                getattr(tensor.contents, field).extend(values)
        return request

    some = ("input_ids", "INT64", [2, 2], [1, 2, 3, 4])
    infers = {
        "raw": infer("tiny", some, id="1"),
        "typed": infer("tiny", some, raw=False),
        "int32": infer("tiny", ("input_ids", "INT32", [1, 2], [1, 2]), raw=False),
        "mask": infer("masked", some, ("attention_mask", "INT64", [2, 2], [0, 1, 1, 1])),
        "types": infer("tiny", some, ("token_type_ids", "INT64", [2, 2], [0, 1, 1, 0])),
        "outputs": infer("tiny", some, outputs=[{"name": "embeddings"}]),
        "region": oip.ModelInferRequest(
            model_name="tiny",
            inputs=[{"name": "input_ids", "datatype": "INT64", "shape": [1, 1], "parameters": {
                "shared_memory_region": oip.InferParameter(string_param="r"),
                "shared_memory_byte_size": oip.InferParameter(int64_param=8)}}]),
    }
    for name, request in infers.items():
        write("infer", name, request.SerializeToString(deterministic=True))


def main():
    for make in (npy, safetensors, checkpoint_index, gguf, word_vectors, vocabulary, model_folder, gguf_model, config, requests):
        make()


if __name__ == "__main__":
    main()
