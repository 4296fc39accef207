#!/usr/bin/python3
"""What PyTorch takes to compose token and learned position rows on one thread, for kernel_benchmark to compare with.

    torch_compose.py serve                      answers lines on standard input, as kernel_benchmark asks
    torch_compose.py measure [--rounds N] B,T…  measures alone and prints JSON

`serve` says "ready VERSION", or "not run: WHY" and ends. Each line "B T SECONDS" that it then reads is answered by the
seconds that one call took, over as many calls as SECONDS allow, at least three; each call has another batch of ids.
"""

import argparse
import itertools
import json
import statistics
import sys
import time


class Composer:
    """The two tables as modules, and the lines that people write around them."""

    def __init__(self, torch, vocab_size, dim, max_context_length):
        torch.set_num_threads(1)
        torch.manual_seed(11)
        self.torch = torch
        self.vocab_size = vocab_size
        self.token = torch.nn.Embedding(vocab_size, dim)
        self.position = torch.nn.Embedding(max_context_length, dim)
        self.batches = {}

    def compose(self, ids):
        return self.token(ids) + self.position(self.torch.arange(ids.shape[1]))

    def ids(self, batch, tokens):
        if (batch, tokens) not in self.batches:
            count = max(8, min(4096, 65536 // (batch * tokens)))
            batches = [self.torch.randint(self.vocab_size, (batch, tokens)) for _ in range(count)]
            self.check(batches[0])
            self.batches[batch, tokens] = itertools.cycle(batches)
        return self.batches[batch, tokens]

    def check(self, ids):
        result = self.compose(ids)
        for b, t in ((0, 0), (ids.shape[0] - 1, ids.shape[1] - 1)):
            expected = self.token.weight[ids[b, t]] + self.position.weight[t]
            if not self.torch.equal(result[b, t], expected):
                raise SystemExit(f"row ({b}, {t}) is not the sum of its rows")

    def seconds_per_call(self, batch, tokens, seconds):
        with self.torch.no_grad():
            batches = self.ids(batch, tokens)
            calls = 0
            begin = time.perf_counter()
            elapsed = 0.0
            while calls < 3 or elapsed < seconds:
                self.compose(next(batches))
                calls += 1
                elapsed = time.perf_counter() - begin
        return elapsed / calls


def serve(composer):
    for line in sys.stdin:
        batch, tokens, seconds = line.split()
        print(composer.seconds_per_call(int(batch), int(tokens), float(seconds)), flush=True)


def measure(composer, shapes, rounds):
    results = []
    for shape in shapes:
        batch, tokens = (int(extent) for extent in shape.split(","))
        composer.seconds_per_call(batch, tokens, 0)
        times = [composer.seconds_per_call(batch, tokens, 0.1) for _ in range(rounds)]
        results.append({"batch_size": batch, "sequence_length": tokens, "ms": statistics.median(times) * 1e3})
    print(json.dumps({"torch": composer.torch.__version__, "rounds": rounds, "results": results}, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("serve", "measure"))
    parser.add_argument("shapes", nargs="*", default=["1,1", "1,16", "1,128", "8,512", "32,512"], metavar="B,T")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--vocab-size", type=int, default=50257)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--max-context-length", type=int, default=1024)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"not run: {error}", flush=True)
        return 0 if arguments.what == "serve" else 1
    composer = Composer(torch, arguments.vocab_size, arguments.dim, arguments.max_context_length)
    if arguments.what == "serve":
        print(f"ready {torch.__version__}", flush=True)
        serve(composer)
    else:
        measure(composer, arguments.shapes, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
