"""Python stubs by protoc, in a temporary folder that is gone when the process ends."""

import atexit
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROTO_FOLDER = pathlib.Path(__file__).resolve().parents[3] / "proto"


def make_importable(*groups):
    """Generates the stubs of each (include folder, files) pair, and lets them be imported."""
    folder = tempfile.mkdtemp(prefix="embd-stubs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for include, files in groups:
        subprocess.run(
            [
                "protoc",
                f"-I{include}",
                f"--python_out={folder}",
                f"--grpc_out={folder}",
                "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin",
                *map(str, files),
            ],
            check=True,
        )
    sys.path.insert(0, folder)
