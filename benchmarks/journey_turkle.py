"""Turkle's journey: `PYTHON journey_turkle.py ROUNDS HITS [DATABASE]` prints the CPU of one in milliseconds.

DATABASE is the URL of an empty one of PostgreSQL's, whose own CPU is counted; without it, it is SQLite. See journey.py.

`PYTHON journey_turkle.py serve HITS WORKERS [DATABASE]` serves as much on a free port, for clients.py: it prints that,
its batch's number and the sessions of so many workers as one line of JSON.

Needs nothing of ours; its environment has Turkle and what that needs. A worker is signed in, sees the list, a preview
with its frame, takes a HIT of five questions with two explanations each, opens it with its frame, and submits.
"""

import json
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import django
from django.conf import settings

DJANGO = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles"]
CHUNK = 2_000
QUESTIONS, EXPLANATIONS, CHOICES = range(5), range(2), "abcd"
ANSWERED = [
    *(f"a{n}" for n in QUESTIONS),
    *(f"{kind}{n}{k}" for kind in "js" for n in QUESTIONS for k in EXPLANATIONS),
]


def configure(folder: str, database: str = "") -> None:
    """Set Turkle up on an empty PostgreSQL of this URL, or on SQLite in a folder."""
    middleware = (
        "middleware.security.SecurityMiddleware contrib.sessions.middleware.SessionMiddleware "
        "middleware.common.CommonMiddleware middleware.csrf.CsrfViewMiddleware "
        "contrib.auth.middleware.AuthenticationMiddleware contrib.messages.middleware.MessageMiddleware "
        "middleware.clickjacking.XFrameOptionsMiddleware"
    )
    processors = (
        "template.context_processors.request contrib.auth.context_processors.auth "
        "contrib.messages.context_processors.messages"
    )
    settings.configure(
        SECRET_KEY="benchmark" * 6,
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=[
            *(f"django.contrib.{name}" for name in DJANGO),
            "guardian",
            "rest_framework",
            "turkle",
        ],
        MIDDLEWARE=[f"django.{name}" for name in middleware.split()],
        AUTHENTICATION_BACKENDS=[
            "django.contrib.auth.backends.ModelBackend",
            "guardian.backends.ObjectPermissionBackend",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        *(f"django.{name}" for name in processors.split()),
                        "turkle.utils.turkle_vars",
                    ]
                },
            }
        ],
        DATABASES={"default": _postgres(database) if database else _sqlite(folder)},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=True,
        STATIC_URL="/static/",
        TURKLE_AUTO_ACCEPT_DEFAULT=False,
    )
    django.setup()


def _sqlite(folder: str) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/db.sqlite3"}


def _postgres(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    who = {"USER": parts.username, "PASSWORD": parts.password}
    where = {"NAME": parts.path[1:], "HOST": parts.hostname, "PORT": parts.port}
    return {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": None, **who, **where}


def addresses() -> list[Any]:
    from django.contrib import admin
    from django.urls import include, path

    auth = path("", include("django.contrib.auth.urls"))
    return [path("admin/", admin.site.urls), auth, path("", include("turkle.urls"))]


def template() -> str:
    def choices(kind: str, name: str) -> str:
        return "".join(f"<label><input type={kind} name={name} value={c}>{c}</label>" for c in CHOICES)

    def explanation(n: int, k: int) -> str:
        return f"<p>${{e{n}{k}}}</p>" + choices("radio", f"j{n}{k}") + choices("checkbox", f"s{n}{k}")

    def question(n: int) -> str:
        body = f"<img src='/{n}.png'><p>${{q{n}}}</p>" + choices("radio", f"a{n}")
        return body + "".join(explanation(n, k) for k in EXPLANATIONS)

    return f"<form>{''.join(map(question, QUESTIONS))}<input type=submit></form>"


def publish(n_hits: int) -> Any:
    from turkle.models import Batch, Project, Task

    project = Project.objects.create(name="p", html_template=template(), html_template_has_submit_button=True)
    batch = Batch.objects.create(
        name="b", project=project, assignments_per_task=9, published=True, filename="b.csv"
    )
    said = {f"e{n}{k}": "The people hold open umbrellas." for n in QUESTIONS for k in EXPLANATIONS}
    asked = {f"q{n}": "What is the weather like?" for n in QUESTIONS}
    for start in range(0, n_hits, CHUNK):
        number = min(CHUNK, n_hits - start)
        Task.objects.bulk_create(Task(batch=batch, input_csv_fields=asked | said) for _ in range(number))
    return batch


def database_seconds() -> float:
    """Return the CPU time of this connection's server process, where there is one. See journey.py."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.get_backend_pid()
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def journey(client: Any, batch: Any, name: str) -> float:
    """Return the milliseconds of CPU that one new worker's journey took."""
    from django.contrib.auth.models import User

    spent = 0.0

    def timed(request: Callable[[], Any], status: int) -> str:
        nonlocal spent
        started = time.process_time() + database_seconds()
        answer = request()
        spent += time.process_time() + database_seconds() - started
        if answer.status_code != status:
            raise SystemExit(f"{answer.status_code} instead of {status}.")
        return str(answer.headers.get("Location", ""))

    client.cookies.clear()
    client.force_login(User.objects.create(username=name))
    timed(lambda: client.get("/"), 200)
    preview = timed(lambda: client.get(f"/batch/{batch.pk}/preview_next_task/"), 302)
    task = preview.strip("/").split("/")[-1]
    timed(lambda: client.get(preview), 200)
    timed(lambda: client.get(f"/task/{task}/iframe/"), 200)
    work = timed(lambda: client.get(f"/batch/{batch.pk}/accept_task/{task}/"), 302)
    taken = work.strip("/").split("/")[-1]
    timed(lambda: client.get(work), 200)
    timed(lambda: client.get(f"/task/{task}/assignment/iframe/{taken}/"), 200)
    timed(lambda: client.post(work, dict.fromkeys(ANSWERED, "a")), 302)
    return spent * 1000


def new_sessions(n: int) -> list[str]:
    """Return the keys of sessions in which new workers are signed in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore

    keys = []
    for number in range(n):
        user, session = User.objects.create(username=f"worker{number}"), SessionStore()
        backend = settings.AUTHENTICATION_BACKENDS[0]
        values = (str(user.pk), backend, user.get_session_auth_hash())
        session.update(zip((SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY), values, strict=True))
        session.create()
        keys.append(session.session_key)
    return keys


def serve(n_hits: int, n_workers: int) -> NoReturn:
    """Serve with two processes of four threads until stopped."""
    from django.core.wsgi import get_wsgi_application
    from django.db import connection, transaction
    from gunicorn.app.base import BaseApplication

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with transaction.atomic():
        told = {"batch": publish(n_hits).pk, "port": port, "sessions": new_sessions(n_workers)}
    connection.close()
    print(json.dumps(told), flush=True)

    class Server(BaseApplication):
        def load_config(self) -> None:
            values = {"bind": f"127.0.0.1:{port}", "workers": 2, "threads": 4, "loglevel": "error"}
            for name, value in values.items():
                self.cfg.set(name, value)

        def load(self) -> Any:
            return get_wsgi_application()

    Server().run()
    raise SystemExit  # gunicorn ends the process itself


def main() -> None:
    given, n_hits = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="turkle-") as folder:
        database = "".join(sys.argv[4 if given == "serve" else 3 :])
        configure(str(Path(folder)), database)
        from django.core.management import call_command
        from django.test import Client

        globals()["urlpatterns"] = addresses()
        call_command("migrate", verbosity=0)
        if given == "serve":
            serve(n_hits, int(sys.argv[3]))
        client, batch = Client(), publish(n_hits)
        journey(client, batch, "warm-up")
        print(statistics.median([journey(client, batch, f"worker{n}") for n in range(int(given))]))


if __name__ == "__main__":
    main()
