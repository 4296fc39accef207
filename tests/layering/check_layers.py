"""Checks every include line of the server, the client and what they share against the layers of the design.

    check_layers.py [ROOT]

Prints one line `FILE:LINE: why` for each offence and exits with 1 if there is any.
"""

import pathlib
import re
import sys

FOLDERS = ("server", "client", "proto/wire")
SUFFIXES = {".h", ".cc", ".hpp", ".cpp", ".inc"}
_INCLUDE = re.compile(r'\s*#\s*include(?:_next)?\s*(?:([<"])([^>"]*)[>"]|(\S.*))')

# Headers of the operating system that have no folder of their own; the C++ library's have no ".h".
_SYSTEM_HEADERS = {
    "dirent.h",
    "fcntl.h",
    "malloc.h",
    "netdb.h",
    "poll.h",
    "pthread.h",
    "sched.h",
    "semaphore.h",
    "signal.h",
    "stdlib.h",
    "time.h",
    "unistd.h",
}
_SYSTEM_FOLDERS = {"arpa", "linux", "net", "netinet", "sys"}

# Outside libraries, by how their headers begin.
LIBRARIES = {
    "absl/": "absl",
    "hwy/": "hwy",
    "openssl/": "openssl",
    "nlohmann/": "nlohmann",
    "yaml-cpp/": "yaml-cpp",
    "CLI/": "CLI11",
    "spdlog/": "spdlog",
    "fmt/": "fmt",
    "prometheus/": "prometheus",
    "grpc/": "grpc",
    "grpcpp/": "grpc",
    "google/protobuf/": "protobuf",
    "google/rpc/": "protobuf",
    "src/proto/grpc/": "grpc",
}

# Our own layers: the longest folder that fits names the layer of a file or of an include.
LAYERS = {
    "server/core": "core",
    "server/formats": "formats",
    "server/config": "config",
    "server/architectures": "architectures",
    "server/service": "service",
    "server/oip": "oip",
    "server/observability": "observability",
    "server/app": "app",
    "server/main.cc": "main",
    "proto/wire": "wire",
    "client/include/embd": "client",
    "client/fake": "client sources",
    "client/src": "client sources",
    "client/cli": "cli",
    "embd/v1": "protos",
    "inference": "inference protos",
    "embd": "client",
}

# Which layers and libraries each layer may include besides itself, the C++ library and the system.
ALLOWED = {
    "core": {"absl", "hwy"},
    "formats": {"core", "absl", "nlohmann"},
    "config": {"absl", "yaml-cpp"},
    "architectures": {"formats", "config", "core", "absl", "nlohmann"},
    "wire": {"protos", "protobuf", "grpc", "absl"},
    "client": {"wire", "protos", "protobuf", "grpc", "absl"},
    "client sources": {"client", "wire", "protos", "protobuf", "grpc", "absl"},
    "cli": {"client", "absl", "CLI11", "nlohmann"},
    "service": {"wire", "core", "observability", "protos", "protobuf", "grpc", "absl"},
    "oip": {"service", "wire", "core", "inference protos", "protobuf", "grpc", "absl"},
    "observability": {"absl", "spdlog", "fmt", "prometheus"},
    "app": {
        "core", "formats", "config", "architectures", "service", "oip", "observability", "wire", "protos", "inference protos",
        "protobuf", "grpc", "absl"
    },
    "main": {"app", "config", "CLI11", "absl"},
}

# Single headers that single files may use on top.
EXCEPTIONS = [
    ("client/cli/plot/cairo_picture", "cairo.h"),
    ("client/cli/plot/cairo_picture", "cairo-svg.h"),
    ("server/core/table/checksum", "openssl/evp.h"),
    ("server/service/token_table", "openssl/crypto.h"),
    ("server/service/token_table", "openssl/evp.h"),
    ("server/app/security", "openssl/crypto.h"),
    ("server/app/tls_material", "openssl/err.h"),
    ("server/app/tls_material", "openssl/evp.h"),
    ("server/app/tls_material", "openssl/pem.h"),
    ("server/app/tls_material", "openssl/ssl.h"),
    ("server/app/tls_material", "openssl/x509.h"),
]


def layer_of(path):
    """The layer of a path, longest match first; None where there is none."""
    for folder in sorted(LAYERS, key=len, reverse=True):
        if path == folder or path.startswith(folder + "/"):
            return LAYERS[folder]
    return None


def library_of(header):
    for prefix, library in LIBRARIES.items():
        if header.startswith(prefix):
            return library
    return None


def is_system(header, bracket):
    """The C++ library and the operating system: <vector>, <sys/mman.h>."""
    if bracket != "<":
        return False
    folder, slash, _ = header.partition("/")
    if slash:
        return folder in _SYSTEM_FOLDERS
    return not header.endswith(".h") or header in _SYSTEM_HEADERS


def offence(path, layer, bracket, header):
    """Why a file of `layer` must not include `header`; None where it may."""
    if is_system(header, bracket):
        return None
    if any(path.startswith(stem) and header == allowed for stem, allowed in EXCEPTIONS):
        return None
    if ".." in header.split("/"):
        return f"includes {header}: paths begin at the root, without '..'"
    target = library_of(header) or layer_of(header)
    if target is None:
        return f"includes {header}: neither a layer nor a library that this check knows"
    if target == layer or target in ALLOWED[layer]:
        return None
    allowed = ", ".join(sorted(ALLOWED[layer]))
    return f"includes {header}: {layer} may use {allowed}, not {target}"


def includes_of(text):
    """Yields (line number, bracket, header) of each include line; a macro as header has the bracket ''."""
    in_comment = False
    for number, line in enumerate(text.splitlines(), start=1):
        if in_comment:
            in_comment = "*/" not in line
            continue
        match = _INCLUDE.match(line)
        if match:
            yield (number, match[1] or "", match[2] if match[1] else match[3].strip())
        start = line.rfind("/*")
        if start >= 0 and "//" not in line[:start]:
            in_comment = "*/" not in line[start:]


def check_file(root, path):
    relative = path.relative_to(root).as_posix()
    layer = layer_of(relative)
    if layer is None:
        return [f"{relative}:1: is in no layer: name its folder in tests/layering/check_layers.py"]
    found = []
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, bracket, header in includes_of(text):
        if bracket == '"' and "/" not in header and (path.parent / header).is_file():
            continue  # a neighbour in the same folder, and so in the same layer
        if not bracket:
            why = f"includes {header}: a macro, where a file name can be checked"
        else:
            why = offence(relative, layer, bracket, header)
        if why:
            found.append(f"{relative}:{number}: {why}")
    return found


def check(root):
    """All offences below `root`, in order of path and line."""
    root = pathlib.Path(root)
    files = [
        path
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and path.suffix in SUFFIXES
    ]
    if not files:
        return [f"{root}: has no source files in {', '.join(FOLDERS)}"]
    return [line for path in files for line in check_file(root, path)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    offences = check(root)
    print("\n".join(offences) if offences else "every include keeps to its layer")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
