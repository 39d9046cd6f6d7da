"""What a command loads before it does anything: only what every command needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services_template import migrated_file
from tests.surveys.results.raw_files import raw_file, row, task

HEAVY = [
    "boto3",
    "numpy",
    "pandas",
    "scipy",
    "langcodes",
    "regex",
    "redis",
    "openpyxl",
    "PIL",
    "ninja",
    "pydantic",
    "config.urls",
    "surveys.pages",
]
START = f"""
import sys
import django
from django.core.management import get_commands, load_command_class
django.setup()
name = sys.argv[1]
load_command_class(get_commands()[name], name)
print([name for name in {[*HEAVY, "celery"]} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("command", "loaded"),
    [
        ("migrate", []),
        ("purge_workers", []),
        ("draw_sample", []),
        ("import_items", ["PIL"]),
        ("evaluate_results", ["numpy", "pandas"]),
        ("export_batch", ["numpy", "pandas"]),
    ],
)
def test_starting_loads_no_more_than_a_command_needs(command: str, loaded: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, command],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{loaded}\n"


UNUSED = [
    "django.db.models",
    "django.urls",
    "django.template",
    "django.forms",
    "django.core.mail",
    "django.contrib",
    "annotators.models",
    "marketplace",
    "surveys.models",
    "surveys.operations",
    "surveys.pages",
    "surveys.publishing.design",
    "statements",
    "cattrs",
    "langcodes",
    "boto3",
    "celery",
    "PIL",
    "openpyxl",
    "scipy.stats",
    "scipy.sparse",
]
READ = """
import os, sys
read = []
sys.addaudithook(lambda event, args: event == "open" and str(args[0]).endswith(".yaml") and read.append(args[0]))
"""
EVALUATION = f"""
{READ}
import gc, manage
sys.argv[0] = "manage.py"
manage.main()
from django.apps import apps
print([name for name in {UNUSED} if name in sys.modules], [os.path.basename(name) for name in read])
print(apps.ready, gc.isenabled(), gc.get_freeze_count() > 0)
"""


def test_evaluating_a_file_takes_neither_models_nor_addresses(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_bytes(raw_file([row([task(1), task(2, answer="no")])]))
    command = ["evaluate_results", str(tmp_path / "raw.csv"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", EVALUATION, *command], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["[] ['evil-vqax.yaml']", "False True True"]


def test_a_batch_is_evaluated_with_them(tmp_path: Path) -> None:
    """manage.py started the command without."""
    database = shutil.copy(migrated_file(), tmp_path / "db.sqlite3")
    done = subprocess.run(
        [sys.executable, "manage.py", "evaluate_results", "--batch", "pilot", "--out", str(tmp_path / "out")],
        env=os.environ | {"DATABASE_URL": f"sqlite:///{database}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, 'CommandError: There is no published batch of "pilot".\n')


WORKER = f"""
import sys
import config.celery, django; django.setup()
import surveys.sync, marketplace.tasks
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_a_worker_loads_what_its_tasks_need_with_the_first_that_does() -> None:
    done = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


LOADED = f"""
{READ}
import threading
from config.wsgi import application
from django.db import connection
from django.urls import get_resolver
from surveys.protocols.registry import DEFINITIONS
read.clear()
print(len(list(DEFINITIONS.values())), len(read))
print(callable(application), "url_patterns" in vars(get_resolver()), threading.active_count(), connection.connection)
"""


def test_the_site_is_loaded_whole_before_it_forks_and_holds_nothing_that_two_could_not_share() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "5 0\nTrue True 1 None\n"


CHECKED = """
import django
django.setup()
from django.contrib import admin
from django.core import checks
n_before = len(admin.site._registry)
print(n_before, checks.run_checks(tags=["admin"]), len(admin.site._registry) > 10)
"""


def test_the_admins_pages_are_loaded_by_whoever_checks_them() -> None:
    done = subprocess.run([sys.executable, "-c", CHECKED], capture_output=True, text=True, check=True)
    assert done.stdout == "0 [] True\n"


def test_the_admins_pages_are_loaded_with_the_addresses() -> None:
    code = CHECKED.partition("n_before")[0] + "import config.urls; print(len(admin.site._registry) > 10)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
