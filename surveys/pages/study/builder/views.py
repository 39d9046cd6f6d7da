"""The pages of the builder: choose what to begin with, edit the form or the text, look at the page, publish."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.contrib.admin import site
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys.models import ProtocolDraft, ProtocolDraftVersion
from surveys.pages.access import researcher
from surveys.pages.study.builder.beside import ItemsRefused, digest, keep_items, keep_shared
from surveys.pages.study.builder.form import TooLarge, form_of
from surveys.pages.study.builder.parts import BuilderForm, Field
from surveys.pages.study.builder.posted import UnknownAct, acted, changed
from surveys.pages.study.builder.preview import preview, trial_of
from surveys.protocols.definition import Definition
from surveys.protocols.documents import KEY, DocumentError
from surveys.protocols.registry import DEFINITIONS
from surveys.protocols.templates import templates
from surveys.protocols.trees import new_name, put, tree_of, written
from surveys.studies import drafts, protocols
from surveys.studies.drafts import DraftRefused, Saved
from surveys.studies.protocols import NameTaken

MOST_BACK = 25  # versions to look through for one that can be shown


@researcher("surveys.add_survey")
@require_http_methods(["GET", "HEAD", "POST"])
def new_survey_type(request: HttpRequest) -> HttpResponse:
    """Choose what a new type begins with; posted, begin."""
    if request.method == "POST":
        return _begun(request)
    context = {
        **site.each_context(request),
        "title": "New survey type",
        "templates": [(one, one.definition) for one in templates().values()],
        "built_in": DEFINITIONS.values(),
        "own": [(one, one.definition) for one in protocols.newest(request.user).values()],
    }
    return render(request, "study/builder/new.html", context)


def _begun(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("template", "")
    if template := templates().get(name):
        draft = drafts.begin(_renamed(template.document, request), by=request.user)
        ProtocolDraft.objects.filter(pk=draft.pk).update(items=template.items)
        return redirect("builder", draft.pk)
    key = request.POST.get("from", "")
    document = protocols.document_of(key, person=request.user)
    if not document:
        raise Http404("No such survey type.")
    origin = None if key in DEFINITIONS else protocols.newest(request.user).get(key)
    draft = drafts.begin(_renamed(document, request), by=request.user, origin=origin)
    return redirect("builder", draft.pk)


def _renamed(document: str, request: HttpRequest) -> str:
    """Return a document under a name or a version that is free."""
    tree = tree_of(document, name=protocols.PASTED)
    key, taken = str(tree[KEY]), [*DEFINITIONS, *protocols.taken_names()]
    before = protocols.newest(request.user).get(key)
    if before and protocols.is_ones_own(before, request.user):
        return written(put(tree, ("version",), str(before.version + 1)))
    if key not in taken:
        return document
    tree = put(
        tree, (KEY,), new_name(f"my-{key}", taken, between="-") if f"my-{key}" in taken else f"my-{key}"
    )
    return written(put(tree, ("version",), "1"))


@dataclass(frozen=True, slots=True)
class Page:
    """A draft as its pages show it: the version that is edited, its form if it has one, and what is wrong."""

    draft: ProtocolDraft
    version: ProtocolDraftVersion
    reading: drafts.Reading
    shown: (
        ProtocolDraftVersion | None
    )  # the version whose page is shown: this one, or the last that holds together
    form: BuilderForm | None
    why_no_form: str

    @classmethod
    def of(
        cls, draft: ProtocolDraft, request: HttpRequest, *, version: ProtocolDraftVersion | None = None
    ) -> "Page":
        """Return the page of a version, of the current one unless another is given."""
        version = version or drafts.current(draft)
        reading = drafts.reading_of(draft, version.document, by=request.user)
        shown = version if reading.definition else _sound(draft, version, request)[0]
        try:
            tree = tree_of(version.document, name=protocols.PASTED)
            return cls(draft, version, reading, shown, form_of(tree, problems=reading.problems), "")
        except DocumentError as error:
            return cls(draft, version, reading, shown, None, error.problems[0])
        except TooLarge as error:
            return cls(draft, version, reading, shown, None, str(error))

    @property
    def name(self) -> str:
        return drafts.name_of(self.version) or str(self.draft)

    @property
    def n_problems(self) -> int:
        return len(self.reading.sentences)

    @property
    def hint(self) -> dict[str, str]:
        """Return what stays in sight while something is to be mended: that, where, and if the page stands still."""
        if not self.n_problems:
            return {"text": "", "at": "", "still": ""}
        at, name = self.form.first_problem if self.form else ("", "")
        n = "1 thing" if self.n_problems == 1 else f"{self.n_problems} things"
        text = f"{n} to mend before it can be published" + (f": {name}" if name else "")
        return {"text": text, "at": at, "still": self._still(name)}

    def _still(self, name: str) -> str:
        if self.shown == self.version:
            return ""
        before = f"This is version {self.shown.number}" if self.shown else "There is no page yet"
        return f"{before}: the page stands still until {f'“{name}”' if name else 'what is wrong'} is mended."

    @property
    def context(self) -> dict[str, Any]:
        return {
            "hint": self.hint,
            "draft": self.draft,
            "version": self.version,
            "form": self.form,
            "why_no_form": self.why_no_form,
            "reading": self.reading,
            "name": self.name,
            "undone": drafts.undone(self.draft),
            "redone": drafts.redone(self.draft),
        }


def _draft(request: HttpRequest, pk: int) -> ProtocolDraft:
    found = drafts.seen_by(request.user).select_related("origin", "protocol")
    return get_object_or_404(found, pk=pk)


@researcher("surveys.add_survey")
@require_http_methods(["GET", "HEAD", "POST"])
def builder(request: HttpRequest, draft_pk: int) -> HttpResponse:
    """Show the form and the page; posted, keep what was changed and do what a button says."""
    draft = _draft(request, draft_pk)
    if draft.protocol:
        return redirect("survey_types")
    if request.method == "POST":
        return _posted(request, draft)
    return _shown(request, draft)


def _shown(request: HttpRequest, draft: ProtocolDraft, *, status: int = 200, **more: Any) -> HttpResponse:
    draft.refresh_from_db()
    page = Page.of(draft, request)
    context = {
        **site.each_context(request),
        **page.context,
        "title": f"Write “{page.name}”",
        "trial": trial_of(draft.items, definition=page.reading.definition)
        if page.reading.definition
        else None,
        "items": draft.items,
        "items_were": digest(draft.items),
        **more,
    }
    return render(request, "study/builder/builder.html", context, status=status)


def _posted(request: HttpRequest, draft: ProtocolDraft) -> HttpResponse:
    """Keep the fields, then act. A script that saves as one types asks for JSON and gets no page."""
    act = request.POST.get("do", "")
    keep_shared(draft, request)
    try:
        keep_items(draft, request)
    except ItemsRefused as error:
        return _without_items(request, draft, error)
    try:
        saved, at = _saved(request, draft, act)
    except (UnknownAct, TooLarge, DocumentError, ValueError) as error:
        if request.accepts("text/html"):
            return _shown(request, draft, status=422, refused=str(error))
        return JsonResponse({"why": str(error)}, status=422)
    if not request.accepts("text/html"):
        return _told(request, draft, saved)
    if saved.overtaken_by:
        return redirect("builder_version", draft.pk, saved.version.number)
    if act.partition(" ")[0] in AFTER_SAVING:
        return AFTER_SAVING[act.partition(" ")[0]](request, draft, saved.version.number)
    return redirect(f"{reverse('builder', args=[draft.pk])}{f'#{at}' if at else ''}")


def _without_items(request: HttpRequest, draft: ProtocolDraft, error: ItemsRefused) -> HttpResponse:
    """Show the page with items that could not be kept; the document's fields are kept as ever."""
    try:
        _saved(request, draft, "")
    except (TooLarge, DocumentError, ValueError) as other:
        return _shown(request, draft, status=422, refused=f"{error} {other}")
    more = {} if error.text is None else {"items": error.text}
    return _shown(request, draft, status=422, refused=str(error), **more)


def _saved(request: HttpRequest, draft: ProtocolDraft, act: str) -> tuple[Saved, str]:
    """Keep what was posted as a version, with what a button does to the document."""
    after = _number(request)
    base = draft.versions.filter(number=after).first()
    if base is None:
        raise DraftRefused("This page is too old. Open it again; all versions are kept there.")
    tree = changed(tree_of(base.document, name=protocols.PASTED), request.POST)
    at = quote(request.POST.get("at", "")[:200])
    if act and act.partition(" ")[0] not in AFTER_SAVING:
        tree, at = acted(tree, act)
    document = base.document if tree == tree_of(base.document, name=protocols.PASTED) else written(tree)
    return drafts.save(draft, document, by=request.user, after=after), at


def _number(request: HttpRequest) -> int:
    text = request.POST.get("base", "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _told(request: HttpRequest, draft: ProtocolDraft, saved: Saved) -> JsonResponse:
    """Answer the script: what is kept, what is wrong where, what can be undone."""
    if saved.overtaken_by:
        address = reverse("builder_version", args=[draft.pk, saved.version.number])
        return JsonResponse(
            {"overtaken": address, "by": str(saved.overtaken_by.made_by or "Somebody")}, status=409
        )
    draft.refresh_from_db()
    page = Page.of(draft, request, version=saved.version)
    parts = page.form.parts if page.form else []
    answer = {
        "version": page.version.number,
        "problems": {part.id: part.problems for part in parts if part.problems},
        "top": page.form.problems if page.form else [page.why_no_form],
        "hint": page.hint,
        "options": {one.id: _chosen_among(one) for one in page.form.fields if one.is_of_document}
        if page.form
        else {},
        "undo": drafts.undone(draft) is not None,
        "redo": drafts.redone(draft) is not None,
        "is_shared": draft.is_shared,
        "saved": timezone.localtime().strftime("%H:%M:%S"),
    }
    return JsonResponse(answer)


def _chosen_among(field: Field) -> dict[str, Any]:
    held = field.held if field.kind == "ticks" else (field.value,)
    return {"held": held, "options": field.options}


def _undo(request: HttpRequest, draft: ProtocolDraft, number: int) -> HttpResponse:
    return _stepped(request, draft, number, is_back=True)


def _redo(request: HttpRequest, draft: ProtocolDraft, number: int) -> HttpResponse:
    return _stepped(request, draft, number, is_back=False)


def _stepped(request: HttpRequest, draft: ProtocolDraft, number: int, *, is_back: bool) -> HttpResponse:
    if not drafts.step(draft, is_back=is_back, after=number):
        messages.info(request, "There is nothing to undo." if is_back else "There is nothing to do again.")
    return redirect("builder", draft.pk)


def _items(request: HttpRequest, draft: ProtocolDraft, number: int) -> HttpResponse:
    return redirect(f"{reverse('builder', args=[draft.pk])}#try")


def _publish(request: HttpRequest, draft: ProtocolDraft, number: int) -> HttpResponse:
    try:
        protocol = drafts.publish(draft, by=request.user, after=number)
    except (DocumentError, NameTaken, DraftRefused) as error:
        return _shown(request, draft, status=422, refused=str(error) if isinstance(error, DraftRefused) else
                      "It can’t be published while something contradicts itself; see below.")  # fmt: skip
    messages.success(request, f"“{protocol}” is published. Bring its items now.")
    return redirect(f"{reverse('import_items')}?type={protocol.key}")


AFTER_SAVING: dict[str, Callable[[HttpRequest, ProtocolDraft, int], HttpResponse]] = {
    "undo": _undo,
    "redo": _redo,
    "items": _items,
    "publish": _publish,
}


@researcher("surveys.add_survey")
@xframe_options_sameorigin
@require_safe
def builder_preview(request: HttpRequest, draft_pk: int) -> HttpResponse:
    """Show the page of the current version, or of the last before it that holds together."""
    draft = _draft(request, draft_pk)
    _, sound = _sound(draft, drafts.current(draft), request)
    if sound is None:
        return render(request, "study/builder/no_preview.html", {})
    definition = drafts.with_pictures(draft, sound)
    trial = trial_of(draft.items, definition=definition)
    return preview(definition, trial=trial, language=request.GET.get("language", "en"))


def _sound(
    draft: ProtocolDraft, version: ProtocolDraftVersion, request: HttpRequest
) -> tuple[ProtocolDraftVersion | None, Definition | None]:
    """Return a version, or the last before it that holds together, with what it defines."""
    looked_at: ProtocolDraftVersion | None = version
    for _ in range(MOST_BACK):
        if looked_at is None:
            break
        if definition := drafts.reading_of(draft, looked_at.document, by=request.user).definition:
            return looked_at, definition
        looked_at = draft.versions.filter(number=looked_at.before).first()
    return None, None


@researcher("surveys.add_survey")
@require_http_methods(["GET", "HEAD", "POST"])
def builder_text(request: HttpRequest, draft_pk: int) -> HttpResponse:
    """Edit the document itself, with what is wrong by line."""
    draft = _draft(request, draft_pk)
    if draft.protocol:
        return redirect("survey_types")
    text = request.POST.get("document", "").replace("\r\n", "\n").replace("\0", "")
    refused = ""
    if request.method == "POST":
        try:
            return _text_saved(request, draft, text)
        except DraftRefused as error:
            refused = str(error)
    page = Page.of(draft, request)
    context = {**site.each_context(request), **page.context, "title": f"The text of “{page.name}”"}
    more = {"refused": refused, "text": text if refused else page.version.document}
    return render(request, "study/builder/text.html", {**context, **more}, status=422 if refused else 200)


def _text_saved(request: HttpRequest, draft: ProtocolDraft, text: str) -> HttpResponse:
    saved = drafts.save(draft, text, by=request.user, after=_number(request))
    if saved.overtaken_by:
        return redirect("builder_version", draft.pk, saved.version.number)
    return redirect("builder_text", draft.pk)


@researcher("surveys.add_survey")
@require_safe
def builder_versions(request: HttpRequest, draft_pk: int) -> HttpResponse:
    """List the versions of a draft, the newest first."""
    draft = _draft(request, draft_pk)
    page = Page.of(draft, request)
    context = {
        **site.each_context(request),
        **page.context,
        "title": f"Versions of “{page.name}”",
        "versions": draft.versions.select_related("made_by").order_by("-number"),
    }
    return render(request, "study/builder/versions.html", context)


@researcher("surveys.add_survey")
@require_http_methods(["GET", "HEAD", "POST"])
def builder_version(request: HttpRequest, draft_pk: int, number: int) -> HttpResponse:
    """Look at one version beside the current one; posted, go on with it."""
    draft = _draft(request, draft_pk)
    version = get_object_or_404(draft.versions.select_related("made_by"), number=number)
    if request.method == "POST":
        saved = drafts.save(draft, version.document, by=request.user, after=_number(request))
        if saved.overtaken_by:
            messages.info(request, "Somebody has changed it once more. Look again.")
            return redirect("builder_version", draft.pk, number)
        return redirect("builder", draft.pk)
    page = Page.of(draft, request)
    context = {
        **site.each_context(request),
        **page.context,
        "title": f"Version {number} of “{page.name}”",
        "looked_at": version,
        "lines": drafts.difference(version, page.version),
    }
    return render(request, "study/builder/version.html", context)


@researcher("surveys.add_survey")
@require_POST
def discard_draft(request: HttpRequest, draft_pk: int) -> HttpResponse:
    """Throw a draft away, with its versions."""
    draft = _draft(request, draft_pk)
    if draft.protocol is None:
        draft.delete()
        messages.success(request, "The draft is gone.")
    return redirect("survey_types")
