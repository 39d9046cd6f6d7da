"""Loopback ports: which addresses exist here, and which port is free on all of them."""

import errno
import socket

LOOPBACK_ADDRESSES = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


def loopback_families() -> list[socket.AddressFamily]:
    """Return the address families whose loopback address can be listened on here; IPv4 always."""
    return [
        family for family in LOOPBACK_ADDRESSES if family == socket.AF_INET or _can_listen(family, port=0)
    ]


def free_port(*, start: int = 0) -> int:
    """Return the first port from `start` on that is free on every loopback address; 0 leaves the choice open."""
    families = loopback_families()
    if not start:
        start = _any_port()
    for port in range(start, 65536):
        if all(_can_listen(family, port=port) for family in families):
            return port
    raise OSError(errno.EADDRINUSE, f"No free port from {start} on.")


def _any_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((LOOPBACK_ADDRESSES[socket.AF_INET], 0))
        return int(listener.getsockname()[1])


def _can_listen(family: socket.AddressFamily, *, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((LOOPBACK_ADDRESSES[family], port))
            listener.listen()
    except OSError:
        return False
    return True


def is_localhost_known() -> bool:
    """Tell whether the name resolves; a bare chroot without /etc/hosts does not know it."""
    try:
        return bool(socket.getaddrinfo("localhost", None))
    except OSError:
        return False
