"""ModelInfer from Node."""

import os
import pathlib
import subprocess
import tempfile

import numpy as np

_SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "oip_infer.js"
_NAMES = {np.dtype("<i4"): "INT32", np.dtype("<i8"): "INT64"}


def node_embeddings(address, node_modules, model, inputs, form):
    """The elements of "embeddings" as a flat float32 array; `inputs` are arrays of one integer type by name."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = []
        for name, array in inputs.items():
            (pathlib.Path(folder) / name).write_bytes(np.ascontiguousarray(array).tobytes())
            arguments.append(f"{name}:{','.join(map(str, array.shape))}:{name}")
        subprocess.run(
            ["node", str(_SCRIPT), model, form, _NAMES[array.dtype], *arguments],
            cwd=folder,
            env={**os.environ, "EMBD_ADDRESS": address, "NODE_PATH": str(node_modules)},
            timeout=120,
            check=True,
        )
        return np.fromfile(pathlib.Path(folder) / "out", "<f4")
