"""Django's sessions in the database, but for keys that it never gave out."""

from typing import Any

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: Any) -> bool:
        """Whoever sends a cookie writes its escapes, too: of a null byte in it PostgreSQL would make an error."""
        is_key: bool = super()._validate_session_key(key)  # type: ignore[misc]
        return is_key and key.isascii() and key.isalnum()
