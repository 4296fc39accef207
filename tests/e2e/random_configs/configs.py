"""Valid configurations, and what the server must say of them."""

import dataclasses

from random_configs.models import ModelDraw
from support.stubs import diagnostics_pb2 as pb

_LIMITS = {
    "max_request_bytes": (64 << 20, (1 << 20, "2MiB", "3 MB", 1 << 30)),
    "max_response_bytes": (1 << 30, (1 << 20, "1GB", 2146435071)),
    "max_batch_size": (4096, (7, 4096, 10**9)),
    "max_sequence_length": (1 << 20, (11, 2**40)),
    "max_bytes_in_flight": (None, ("64MiB", 1 << 40)),
    "max_request_bytes_in_flight": (None, ("4GiB", 2**62)),
    "max_concurrent_calls": (None, (100, 10**12)),
    "max_concurrent_streams": (None, (100, 2**31 - 1)),
    "max_stall": (None, (60, "90500ms", "24h", "1.5m")),
}
# All so long that a busy machine may still be asked how it is configured.
_CONNECTIONS = {
    "keepalive_time": (20, "1m"),
    "keepalive_timeout": (60, "90s"),
    "min_ping_interval": (0, "500ms"),
    "handshake_timeout": (60.5, "24h"),
    "max_idle": (100, "24h"),
    "max_age": ("10m", 2073600),
}
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclasses.dataclass
class Config:
    """One file's content, and what DescribeModel and GetServerInfo must say where it is served."""

    content: dict
    descriptions: list = dataclasses.field(default_factory=list)  # DescribeModelResponse without checksums
    limits: pb.ServerLimits = None
    region_prefix: str = ""
    can_be_served: bool = True  # without files that only a check does not open


def draw_config(random, folder, most_models=4):
    """A valid configuration; tables go into the folder, which is that of the file."""
    config = Config({})
    if random.random() < 0.7:
        config.content["server"] = _server(random, config)
    config.limits = _limits(config.content.get("server", {}).get("limits", {}))
    if random.random() < 0.95:
        models = [ModelDraw(random, folder, number).draw() for number in range(random.randint(1, most_models))]
        config.content["models"] = [entry for entry, _ in models]
        config.descriptions = [description for _, description in models]
    return config


def _limits(given):
    values = {name: _bytes(given.get(name, default)) for name, (default, _) in _LIMITS.items()}
    known = ("max_request_bytes", "max_response_bytes", "max_batch_size", "max_sequence_length", "max_bytes_in_flight")
    return pb.ServerLimits(**{name: values[name] for name in known})


def _bytes(value):
    if not isinstance(value, str) or value[-1] != "B":
        return value
    unit = next(unit for unit in _UNITS if value.endswith(unit))
    return int(value.removesuffix(unit)) * _UNITS[unit]


def _some(random, choices):
    return {name: random.choice(values) for name, values in choices.items() if random.random() < 0.4}


def _server(random, config):
    server = {"limits": _some(random, {name: values for name, (_, values) in _LIMITS.items()})}
    server["connections"] = _some(random, _CONNECTIONS)
    if "max_age" in server["connections"] and random.random() < 0.5:
        server["connections"]["max_age_grace"] = random.choice((0, "5s"))
    server |= _some(
        random,
        {
            "listen": ("127.0.0.1:0", ["127.0.0.1:0", "localhost:0"], ["[::1]:8001", "unix:/run/embd/x.sock"]),
            "metrics": ({"listen": "none"}, {"listen": ["127.0.0.1:0"]}),
            "insecure": (True, False),
            "model_control": ("none", "explicit"),
            "inference": ({"name": "_embd.-1"}, {"output_datatype": "BF16"}, {"name": "a" * 128}),
            "drain_delay": (0, "10s"),
            "drain_timeout": ("1m", 0.5),
            "log": ({"level": "warn"}, {"format": "json", "access_sample": 0.5}, {"level": "off", "access_sample": 1}),
        },
    )
    if random.random() < 0.3:
        config.region_prefix = random.choice(("/dev/shm/embd-", "/tmp/x/"))
        server["shared_memory"] = {"prefix": config.region_prefix, "max_regions": random.choice((1, 256))}
        if random.random() < 0.5:
            server["shared_memory"]["max_bytes"] = "64MiB"
    if random.random() < 0.2:
        server["tls"] = {"certificate": "server.pem", "key": "server.key", "min_version": random.choice(("1.2", "1.3"))}
        config.can_be_served = False
    if random.random() < 0.2:
        server["tokens"] = "tokens.yaml"
        config.can_be_served = False
    return {name: value for name, value in server.items() if value != {}}


def without_checksums(description):
    """What is compared: of computed tables neither rows nor words of source are foretold."""
    plain = pb.DescribeModelResponse()
    plain.CopyFrom(description)
    plain.checksum = ""
    for table in plain.tables:
        if table.source.startswith(("seeded", "sinusoidal")):
            table.source = table.checksum = ""
    return plain
