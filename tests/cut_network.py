"""A network that can be cut: a TCP proxy in front of a server, which a browser's own offline switch can't stand for."""

import socket
import threading
from contextlib import suppress


class Cable:
    """Forwards connections to a port of this machine until it is cut.

    `is_cut`: connections break, new ones too. `is_deaf`: what is sent arrives, and no answer comes back.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.is_cut = self.is_deaf = False
        self.open: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.is_cut = True
        self._break()

    def mend(self) -> None:
        self._break()
        self.is_cut = self.is_deaf = False

    def close(self) -> None:
        self.cut()
        self.listener.close()

    def _break(self) -> None:
        while self.open:
            with suppress(OSError):
                self.open.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self.port))
                self.open += [near, far]
                for source, target, is_answer in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pump, args=(source, target, is_answer), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_answer and self.is_deaf:
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
