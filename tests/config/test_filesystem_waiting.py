"""The filesystem broker where nothing comes: it looks for messages only once the folder has changed."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection, Consumer, Queue
from kombu.message import Message

from config import filesystem_broker


class Broker:
    """A connection with one consumer, which takes one message at a time."""

    def __init__(self, folder: Path) -> None:
        names = {"data_folder_in": "queue", "data_folder_out": "queue"}
        names |= {"processed_folder": "processed", "control_folder": "control"}
        for name in set(names.values()):
            (folder / name).mkdir()
        options = {option: str(folder / name) for option, name in names.items()}
        self.queue, self.folder = Queue("work"), folder / "queue"
        self.address: dict[str, Any] = {
            "hostname": "filesystem://localhost",
            "transport": "config.filesystem_broker:Transport",
            "transport_options": options | {"polling_interval": 0.02},
        }
        self.connection = Connection(**self.address)
        self.taken: list[Message] = []
        channel = self.connection.channel()
        channel.basic_qos(0, 1, False)
        consumer = Consumer(channel, [self.queue], callbacks=[lambda _, message: self.taken.append(message)])
        consumer.consume()

    def put(self, text: str) -> None:
        with Connection(**self.address) as connection, connection.Producer() as producer:
            producer.publish(text, routing_key=self.queue.name)

    def let_rest(self) -> None:
        """Have the folder unchanged for so long that its time tells of every change to come."""
        os.utime(self.folder, (0, 0))

    def told(self) -> list[Any]:
        return [message.payload for message in self.taken]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path)
    yield broker
    broker.connection.release()


def test_a_folder_at_rest_is_looked_through_once(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[str]()
    get = filesystem_broker.Channel._get
    monkeypatch.setattr(
        filesystem_broker.Channel,
        "_get",
        lambda self, queue, *rest: looks.append(queue) or get(self, queue, *rest),
    )
    broker.let_rest()
    with pytest.raises(TimeoutError):
        broker.connection.drain_events(timeout=0.3)
    assert looks == ["work"]


def test_what_comes_meanwhile_is_taken(broker: Broker) -> None:
    broker.let_rest()
    later = threading.Timer(0.1, broker.put, ["late"])
    later.start()
    broker.connection.drain_events(timeout=10)
    later.join()
    assert broker.told() == ["late"]


def test_who_sends_wakes_who_rests(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem_broker, "LONGEST_REST", 600.0)
    broker.let_rest()
    later = threading.Timer(0.1, broker.put, ["late"])
    later.start()
    broker.connection.drain_events(timeout=10)
    later.join()
    assert broker.told() == ["late"]


def test_a_file_in_its_place_is_no_pipe(broker: Broker) -> None:
    bell = filesystem_broker.Bell(broker.folder.parent / "control")
    bell.path.touch()
    with pytest.raises(OSError, match="no pipe"):
        bell._open()


def test_a_rest_begins_anew_after_each_ring(broker: Broker) -> None:
    """What has rung is not heard again: a message of another queue wakes nobody twice."""
    bell = filesystem_broker.Bell(broker.folder.parent / "control")
    rests = threading.Event()
    os.mkfifo(bell.path)
    others = os.open(bell.path, os.O_RDWR | os.O_NONBLOCK)  # as another worker, by which it is not forgotten
    try:
        bell.ring()
        bell.wait(unless=lambda: False, seconds=600)
        again = threading.Thread(target=lambda: [bell.wait(unless=lambda: False, seconds=600), rests.set()])
        again.start()
        assert not rests.wait(0.3)
        bell.ring()
        assert rests.wait(10)
        again.join()
    finally:
        os.close(others)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_where_no_pipe_can_be_made_it_looks_again(broker: Broker, make: Callable[[Path], None]) -> None:
    make(broker.folder.parent / "control" / "bell")
    broker.let_rest()
    later = threading.Timer(0.1, broker.put, ["late"])
    later.start()
    broker.connection.drain_events(timeout=10)
    later.join()
    assert broker.told() == ["late"]


def test_what_came_in_the_same_moment_as_the_last_change_is_taken(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's time is the one it had when it was looked through; here a moment lasts until the test has ended."""
    monkeypatch.setattr(filesystem_broker, "TICK", 600 * filesystem_broker.TICK)
    before = broker.folder.stat()

    def put() -> None:
        broker.put("at once")
        os.utime(broker.folder, ns=(before.st_atime_ns, before.st_mtime_ns))

    later = threading.Timer(0.03, put)
    later.start()
    broker.connection.drain_events(timeout=10)
    later.join()
    assert broker.told() == ["at once"]


def test_who_takes_no_more_looks_again_once_there_is_room(broker: Broker) -> None:
    """Nothing changes in the folder then."""
    broker.put("first")
    broker.connection.drain_events(timeout=10)
    broker.put("second")
    broker.let_rest()
    later = threading.Timer(0.1, broker.taken[0].ack)
    later.start()
    broker.connection.drain_events(timeout=10)
    later.join()
    assert broker.told() == ["first", "second"]
