"""What all tests share."""

from pathlib import Path

import pytest
from django.conf import settings


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Test SQLite as it runs: in a file, so that every thread and the live server have their own connection."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["TEST"]["NAME"] = str(Path(tmp_path_factory.mktemp("database")) / "test.sqlite3")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of published studies beside the project. It is not part of it."""
    folder = settings.BASE_DIR.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the published studies (../shared) are not on this machine")
    return folder
