"""One fault a file. Each is injected in its turn, again and again, while the load goes on."""
