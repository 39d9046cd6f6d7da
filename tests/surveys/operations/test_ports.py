"""Free ports on every loopback address."""

import socket

import pytest

from surveys.operations.processes.stack import (
    LOOPBACK_ADDRESSES,
    free_port,
    is_localhost_known,
    loopback_families,
)


@pytest.mark.parametrize("family", loopback_families())
def test_a_taken_port_is_passed_over_on_every_loopback_address(family: socket.AddressFamily) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind((LOOPBACK_ADDRESSES[family], 0))
        listener.listen()
        taken = listener.getsockname()[1]
        assert free_port(start=taken) > taken


def test_a_free_port_is_taken_as_it_is() -> None:
    port = free_port()
    assert free_port(start=port) == port


def test_no_port_is_chosen_that_a_connection_going_out_may_be_given() -> None:
    """Source: kernel.org/doc/html/latest/networking/ip-sysctl.html, ip_local_port_range."""
    assert max(free_port() for _ in range(50)) < 32768


def test_there_is_no_port_beyond_the_last() -> None:
    with pytest.raises(OSError, match="No free port from 65536 on"):
        free_port(start=65536)


def test_a_machine_that_does_not_know_its_own_name_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_localhost_known() is True

    def unknown(*args: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert is_localhost_known() is False
