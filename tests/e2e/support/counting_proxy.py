"""A TCP proxy that counts the bytes it passes on, for the length of a `with` block."""

import contextlib
import socket
import threading

PIECE = 1 << 20


class CountingProxy:
    """Listens on a free port of 127.0.0.1 and passes all on to `target`, "HOST:PORT", and back."""

    def __init__(self, target):
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._lock = threading.Lock()
        self._sockets = []
        self._bytes = 0
        self._listener = None
        self.address = None

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    @property
    def byte_count(self):
        """The bytes passed on so far, in both directions, the headers of TCP and IP not among them."""
        with self._lock:
            return self._bytes

    @property
    def connection_count(self):
        """How many connections were made to it so far."""
        return len(self._sockets) // 2

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._sockets.append(one)
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                with self._lock:
                    self._bytes += len(piece)
                sink.sendall(piece)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
