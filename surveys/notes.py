"""Telling somebody, calmly and once, that work they have started is done."""

from collections.abc import Callable

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet
from django.utils import timezone

from surveys.models import Batch, Note, Publishing

Person = AbstractBaseUser | AnonymousUser


def tell(person_pk: int | None, *, about: str, text: str, url: str) -> None:
    """Leave a note for a person; of the same work they are told once. Called in the transaction that ends it."""
    if person_pk is not None:
        Note.objects.get_or_create(
            person_id=person_pk, about=about, defaults={"text": text[:500], "url": url}
        )


def tell_publisher(batch: Batch, *, event: str, words: Callable[[Publishing], str]) -> None:
    """Tell whoever had a batch published, unless for simulated people, that it is `event` by now, in some `words`."""
    asked = Publishing.objects.filter(batch=batch).first()
    if asked and not batch.is_simulated:
        text = f"{batch} is {event}: {words(asked)}"
        tell(asked.asked_by_id, about=f"{event}:{batch.pk}", text=text, url=batch.get_absolute_url())


def unseen(person: Person) -> QuerySet[Note]:
    """Return what somebody has not seen yet, the newest first."""
    return Note.objects.filter(person_id=person.pk, seen_at=None)


def put_away(notes: QuerySet[Note]) -> int:
    """Show these notes no more. Returns how many were shown until now."""
    return notes.filter(seen_at=None).update(seen_at=timezone.now())
