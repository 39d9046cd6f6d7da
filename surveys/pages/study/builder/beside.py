"""What a form keeps of a draft beside its document: the items it is tried with, and whether it is shared.

They are sent with whatever button is pressed, so that none loses them. What a page did not change is left alone: it may
be older than what somebody else has put there.
"""

from hashlib import sha256

from django.http import HttpRequest

from surveys.models import ProtocolDraft
from surveys.pages.study.builder.preview import MOST_ITEMS_BYTES

TOO_MANY_ITEMS = f"That is more than {MOST_ITEMS_BYTES // 1000} kB; three items do."
NOT_TEXT = "The file is not UTF-8 text. Save it as CSV (UTF-8), or paste its rows."
OTHERS_ITEMS = (
    "Somebody else has brought other items meanwhile. Yours still stand in the field; show them once more to put them "
    "in the place of theirs."
)


class ItemsRefused(ValueError):
    """Items that were not kept; the message says why. `text` is what the field is to show again, None as it was."""

    def __init__(self, message: str, *, text: str | None = None) -> None:
        super().__init__(message)
        self.text = text


def digest(items: str) -> str:
    """Return what a page says of the items it shows, by which a change of them is known."""
    return sha256(items.encode()).hexdigest()


def keep_shared(draft: ProtocolDraft, request: HttpRequest) -> None:
    """Share the draft, or stop sharing it, where the form's box was changed."""
    was, wanted = request.POST.get("was_shared") == "true", "is_shared" in request.POST
    if "was_shared" in request.POST and was != wanted:
        ProtocolDraft.objects.filter(pk=draft.pk, is_shared=was).update(is_shared=wanted)


def keep_items(draft: ProtocolDraft, request: HttpRequest) -> None:
    """Keep the items that were brought, as a file or in the field. Raises ItemsRefused."""
    upload = request.FILES.get("items_file")
    if upload:
        ProtocolDraft.objects.filter(pk=draft.pk).update(items=_text(upload.read(MOST_ITEMS_BYTES + 1)))
        return
    given = request.POST.get("items")
    if given is not None and digest(given := _text(given.encode())) != request.POST.get("items_were"):
        _replace(draft, given, were=request.POST.get("items_were"))


def _replace(draft: ProtocolDraft, given: str, *, were: str | None) -> None:
    held = ProtocolDraft.objects.values_list("items", flat=True).get(pk=draft.pk)
    if were is not None and digest(held) not in (were, digest(given)):
        raise ItemsRefused(OTHERS_ITEMS, text=given)
    ProtocolDraft.objects.filter(pk=draft.pk, items=held).update(items=given)


def _text(content: bytes) -> str:
    if len(content) > MOST_ITEMS_BYTES:
        raise ItemsRefused(TOO_MANY_ITEMS)
    try:
        return content.decode("utf-8-sig").replace("\0", "").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ItemsRefused(NOT_TEXT) from None
