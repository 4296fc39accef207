"""What is measured: cases, each with lines that are measured in turn, and what their ratios must reach."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Line:
    """One way of getting a batch: which server, by which kind of address, and how the load client asks."""

    name: str
    server: str
    address: str = "tcp"
    arguments: tuple = ()


EMBD = Line("embd, unary", "embd")
UNIX = Line("embd, unary, Unix socket", "embd", "unix")
CHUNKS = Line("embd, chunks", "embd", "tcp", ("--mode", "auto"))
UNIX_CHUNKS = Line("embd, chunks, Unix socket", "embd", "unix", ("--mode", "auto"))
FLOAT16 = Line("embd, chunks, float16", "embd", "tcp", ("--mode", "auto", "--float16"))
SHARED = Line("embd, shared memory", "embd", "unix", ("--mode", "shared"))
OIP = Line("embd, ModelInfer of the Open Inference Protocol", "embd", "tcp", ("--transport", "oip"))
FLOOR = Line("gRPC floor (composes nothing)", "floor")
SOCKET = Line("bare socket, one buffer", "socket", "tcp", ("--transport", "socket"))
TORCH = Line("Python, grpcio + torch", "torch")
FLOATS = Line("Python, repeated float", "torch", "tcp", ("--transport", "floats"))
REDIS = Line("Redis, MGET of the rows", "redis", "unix", ("--transport", "redis"))
STREAM16 = Line("embd, EmbedStream, 16 in flight", "embd", "tcp", ("--mode", "stream", "--outstanding", "16"))
STREAM64 = Line("embd, EmbedStream, 64 in flight", "embd", "tcp", ("--mode", "stream", "--outstanding", "64"))
STREAM2 = Line("embd, EmbedStream, 2 in flight", "embd", "tcp", ("--mode", "stream", "--outstanding", "2"))
ASYNC64 = Line("embd, EmbedAsync, 64 in flight", "embd", "tcp", ("--mode", "async", "--outstanding", "64"))
ONE_CHANNEL = Line("embd, all callers on one channel", "embd", "tcp", ("--one-connection",))

EVERYBODY = (EMBD, UNIX, FLOOR, SOCKET, TORCH, REDIS)


@dataclasses.dataclass(frozen=True)
class Case:
    """One shape and number of callers, and the lines that are compared there; the first one is what ratios are to."""

    name: str
    batch: int
    tokens: int
    callers: int
    lines: tuple
    pinned: bool = False  # server and client each on a core of its own
    single: tuple = ()  # lines with one caller whatever `callers` says

    @property
    def title(self):
        callers = "one caller" if self.callers == 1 else f"{self.callers} callers"
        pinned = ", client and server each on a core of its own" if self.pinned else ""
        return f"({self.batch},{self.tokens}), {callers}{pinned}"


CASES = (
    Case("1x1", 1, 1, 1, (*EVERYBODY, OIP)),
    Case("1x16", 1, 16, 1, EVERYBODY),
    Case("1x128", 1, 128, 1, (*EVERYBODY, SHARED, STREAM2)),
    Case("1x128-pinned", 1, 128, 1, (EMBD, FLOOR, SOCKET), pinned=True),
    Case("8x512", 8, 512, 1, (*EVERYBODY, OIP, CHUNKS, UNIX_CHUNKS, SHARED, FLOAT16, FLOATS)),
    Case("32x512", 32, 512, 1, (EMBD, UNIX, CHUNKS, SHARED, FLOOR, SOCKET, TORCH)),
    Case(
        "1x1-8",
        1,
        1,
        8,
        (*EVERYBODY, FLOATS, ONE_CHANNEL, STREAM16, STREAM64, ASYNC64),
        single=(STREAM16, STREAM64, ASYNC64),
    ),
    Case("1x16-8", 1, 16, 8, EVERYBODY),
    Case("1x128-8", 1, 128, 8, EVERYBODY),
    Case("8x512-8", 8, 512, 8, (*EVERYBODY, CHUNKS)),
    Case("1x1-64", 1, 1, 64, EVERYBODY),
    Case("1x16-64", 1, 16, 64, EVERYBODY),
)


@dataclasses.dataclass(frozen=True)
class Claim:
    """A ratio of two lines of one case: at least (or at most) `target`."""

    case: str
    what: str
    line: Line
    against: Line
    target: float
    figure: str = "calls_per_second"
    at_most: bool = False


CPU = "server_cpu_us"
CLAIMS = (
    Claim("8x512", "unary, throughput against the floor", EMBD, FLOOR, 0.82),
    Claim("1x128", "unary, throughput against the floor", EMBD, FLOOR, 0.92),
    Claim("1x1", "server CPU a call against the floor", EMBD, FLOOR, 1.15, CPU, at_most=True),
    Claim("1x1-8", "server CPU a call against the floor", EMBD, FLOOR, 1.15, CPU, at_most=True),
    Claim("8x512", "chunks against the floor", CHUNKS, FLOOR, 1.5),
    Claim("8x512", "chunks against the bare socket", CHUNKS, SOCKET, 1.3),
    Claim("32x512", "chunks against the floor", CHUNKS, FLOOR, 1.8),
    Claim("1x128-pinned", "unary against the bare socket", EMBD, SOCKET, 0.5),
    Claim("1x1-8", "unary against Python", EMBD, TORCH, 7),
    Claim("1x1-8", "EmbedStream, 64 in flight, against Python's eight callers", STREAM64, TORCH, 20),
    Claim("8x512", "float32 against Python, MB/s", CHUNKS, TORCH, 5),
    Claim("8x512", "float16 against Python's float32, calls", FLOAT16, TORCH, 8),
    Claim("8x512", "against Python's repeated float", CHUNKS, FLOATS, 15),
    Claim("1x1-8", "EmbedStream, 64 in flight, against eight unary callers", STREAM64, EMBD, 3),
    Claim("8x512", "rows a second against Redis", CHUNKS, REDIS, 5),
    Claim("8x512", "shared memory against unary over TCP", SHARED, EMBD, 4),
    Claim("8x512", "shared memory against chunks", SHARED, CHUNKS, 1.8),
    Claim("8x512", "rows a second by shared memory against Redis", SHARED, REDIS, 12),
    Claim("8x512", "rows a second in float16 against Redis", FLOAT16, REDIS, 9),
    Claim("8x512", "ModelInfer against Embed, both unary", OIP, EMBD, 0.95),
)
