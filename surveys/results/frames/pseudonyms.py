"""Names for workers that can be published: the same worker, the same name; nobody can turn it back."""

from annotators.people.names import MARK, pseudonym


class Pseudonyms:
    """Keyed names. Without a `key` of the study's own, one is derived from SECRET_KEY."""

    def __init__(self, key: str = "") -> None:
        self._key = key.encode()
        self._known: dict[str, str] = {}

    def __call__(self, worker_id: str) -> str:
        """Return the worker's name, 12 hex digits; see `annotators.people.names.pseudonym`.

        A purged worker has the one name left that they were purged to, whatever the key.
        """
        if worker_id not in self._known:
            self._known[worker_id] = pseudonym(worker_id, key=self._key)
        return self._known[worker_id]


class MarkedPseudonyms(Pseudonyms):
    """Pseudonyms for files that have worker ids by their format: whoever reads them again sees what they are."""

    def __call__(self, worker_id: str) -> str:
        return MARK + super().__call__(worker_id)


class WorkerIds(Pseudonyms):
    """No pseudonyms but the ids themselves, for raw files of those who ask for them."""

    def __call__(self, worker_id: str) -> str:
        return worker_id


def names_for_raw(*, worker_ids: bool) -> Pseudonyms:
    """Return what workers are called in a raw file."""
    return WorkerIds() if worker_ids else MarkedPseudonyms()
