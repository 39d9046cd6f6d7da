"""A server that goes on sending, letter by letter, until it is hung up on."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from threading import Event, Thread

EVERY_SECONDS = 0.02
PATIENCE_SECONDS = 20.0


class Dripping:
    """Says `first` to whoever comes, then one letter of `then` after the other, for ever."""

    def __init__(self, first: bytes, then: bytes) -> None:
        self.first, self.then = first, then
        self.is_left = Event()  # somebody came, and has hung up
        self.is_over = Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/told"

    def serve(self) -> None:
        try:
            connection, _ = self.listening.accept()
        except OSError:  # nobody came
            return
        with connection:
            try:
                self._send(connection)
            except OSError:
                self.is_left.set()

    def _send(self, connection: socket.socket) -> None:
        connection.sendall(self.first)
        for letter in cycle(self.then):
            if self.is_over.wait(EVERY_SECONDS):
                return
            connection.sendall(bytes([letter]))


@contextmanager
def dripping(first: bytes, then: bytes) -> Iterator[Dripping]:
    server = Dripping(first, then)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.is_over.set()
        server.listening.shutdown(socket.SHUT_RDWR)
        server.listening.close()
        thread.join()
