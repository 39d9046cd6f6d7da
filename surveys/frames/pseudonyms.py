"""Names for workers that can be published: the same worker, the same name; nobody can turn it back."""

import hashlib
import hmac

from django.conf import settings


class Pseudonyms:
    """Keyed names. Without a `key` of the study's own, one is derived from SECRET_KEY."""

    def __init__(self, key: str = "") -> None:
        self._key = key.encode() or hmac.digest(settings.SECRET_KEY.encode(), b"worker pseudonyms", "sha256")
        self._known: dict[str, str] = {}

    def __call__(self, worker_id: str) -> str:
        """Return the first 12 hex digits of HMAC-SHA256(key, worker id)."""
        if worker_id not in self._known:
            digest = hmac.new(self._key, worker_id.encode(), hashlib.sha256)
            self._known[worker_id] = digest.hexdigest()[:12]
        return self._known[worker_id]


class WorkerIds(Pseudonyms):
    """No pseudonyms but the ids themselves, for raw files."""

    def __call__(self, worker_id: str) -> str:
        return worker_id
