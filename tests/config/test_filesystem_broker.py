"""The filesystem broker under several processes at once: every message arrives once, whole."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kombu import Connection

pytestmark = pytest.mark.processes

PRODUCERS, CONSUMERS, MESSAGES = 3, 3, 300

OPEN = """
import sys, time
from queue import Empty
from kombu import Connection
folder, number = sys.argv[1:]
options = {"data_folder_in": folder + "/queue", "data_folder_out": folder + "/queue",
           "processed_folder": folder + "/processed", "control_folder": folder + "/control"}
connection = Connection("filesystem://localhost", transport="config.filesystem_broker:Transport",
                        transport_options=options)
"""
PRODUCE = f"""
queue = connection.SimpleQueue("work")
for n in range({MESSAGES}):
    queue.put({{"id": f"{{number}}-{{n}}", "text": "й" * 5000}})
"""
CONSUME = """
queue = connection.SimpleQueue("work")
idle_since = time.monotonic()
while time.monotonic() < idle_since + 3:
    try:
        message = queue.get_nowait()
    except Empty:
        continue
    message.ack()
    assert message.payload["text"] == "й" * 5000
    print(message.payload["id"])
    idle_since = time.monotonic()
"""


def made(folder: Path) -> dict[str, str]:
    """Make the broker's folders and return its options."""
    names = {"data_folder_in": "queue", "data_folder_out": "queue", "processed_folder": "processed",
             "control_folder": "control"}  # fmt: skip
    for name in set(names.values()):
        (folder / name).mkdir()
    return {option: str(folder / name) for option, name in names.items()}


def start(code: str, folder: Path, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OPEN + code, str(folder), str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_every_message_arrives_once_and_whole(tmp_path: Path) -> None:
    made(tmp_path)
    processes = [start(CONSUME, tmp_path, n) for n in range(CONSUMERS)]
    processes += [start(PRODUCE, tmp_path, n) for n in range(PRODUCERS)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [error for _, error in outputs if error] == []
    received = Counter(line for out, _ in outputs for line in out.split())
    assert received == Counter(f"{p}-{n}" for p in range(PRODUCERS) for n in range(MESSAGES))
    assert list((tmp_path / "queue").iterdir()) == list((tmp_path / "processed").iterdir()) == []


def test_bindings_of_a_fanout_are_all_kept(tmp_path: Path) -> None:
    options = {name: str(tmp_path) for name in ("data_folder_in", "data_folder_out", "control_folder")}
    transport = "config.filesystem_broker:Transport"
    with Connection("filesystem://localhost", transport=transport, transport_options=options) as connection:
        channel = connection.channel()
        for queue in ("a", "b", "a"):
            channel._queue_bind("news", "", "", queue)
        assert sorted(binding.queue for binding in channel.get_table("news")) == ["a", "b"]


def test_settings_use_it(tmp_path: Path) -> None:
    code = "import config.celery as c; print(c.app.connection_for_write().transport)"
    environment = {"DJANGO_SETTINGS_MODULE": "config.settings", "ASSENT_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "config.filesystem_broker.Transport" in done.stdout


def test_what_is_urgent_is_taken_first(tmp_path: Path) -> None:
    options, transport = made(tmp_path), "config.filesystem_broker:Transport"
    with Connection("filesystem://localhost", transport=transport, transport_options=options) as connection:
        queue = connection.SimpleQueue("work")
        for name, priority in (("a", 9), ("b", 0), ("c", 9), ("d", None)):
            queue.put(name, priority=priority)
        assert [queue.get_nowait().payload for _ in range(4)] == ["b", "d", "a", "c"]
