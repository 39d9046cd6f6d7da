"""Survey types: the built-in ones and one's own, to read, to copy, to write as a file and to follow by new versions."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import site
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language_info
from django.views.decorators.http import require_http_methods, require_safe

from surveys.models import Protocol
from surveys.pages.access import researcher
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError
from surveys.protocols.languages import gaps
from surveys.protocols.registry import DEFINITIONS
from surveys.studies import drafts, protocols
from surveys.studies.packages import Package, PackageError, opened, packed
from surveys.studies.protocols import NameTaken

ADD = "surveys.add_survey"


class DocumentForm(forms.Form):
    """A document, written here or uploaded."""

    file = forms.FileField(
        label="A file from your computer",
        required=False,
        help_text="YAML, or a ZIP of it and the pictures it names. What it holds takes the place of the text above.",
    )
    document = forms.CharField(
        label="The file’s text",
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 32, "spellcheck": "false", "autocapitalize": "off", "class": "code"}
        ),
    )
    is_shared = forms.BooleanField(
        label="Shared",
        required=False,
        help_text="Everybody with a role here may use it, as far as that goes.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.protocol: Protocol | None = None

    def keep(self, request: HttpRequest, *, origin: Protocol | None) -> bool:
        """Keep what was sent, and tell whether that went well; else the form says why, and has the text."""
        try:
            package = self._package()
            self.protocol = protocols.keep(
                package, by=request.user, is_shared=self.cleaned_data["is_shared"], origin=origin
            )
        except PackageError as error:
            self.add_error("file", str(error))
        except DocumentError as error:
            self.add_error("document", error.problems)
        except NameTaken as error:
            self.add_error("document", str(error))
        return self.protocol is not None

    def _package(self) -> Package:
        """Return the document that was sent, with what is beside it in a ZIP, and show its text in the form."""
        upload: UploadedFile | None = self.cleaned_data["file"]  # type: ignore[type-arg]
        if upload is None:
            text = self.cleaned_data["document"].replace("\r\n", "\n")
            return Package(protocols.PASTED, text.encode())
        package = opened(upload, name=upload.name or protocols.PASTED, size=upload.size or 0)
        self.data = {**self.data, "document": package.document.decode("utf-8-sig", errors="replace")}
        return package


@researcher("surveys.view_survey")
@require_safe
def survey_types(request: HttpRequest) -> HttpResponse:
    """Show all survey types that somebody sees, and which surveys are of them."""
    context = {
        **site.each_context(request),
        "title": "Survey types",
        "drafts": _drafts(request),
        "built_in": [(definition, _translations(definition)) for definition in DEFINITIONS.values()],
        "own": [
            (protocol, definition, protocol.surveys.count(), _translations(definition))
            for protocol in protocols.newest(request.user).values()
            for definition in [protocol.definition]
        ],
    }
    return render(request, "study/survey_types.html", context)


def _drafts(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the types that are being written: name, when somebody changed it last, and who."""
    found = drafts.seen_by(request.user).filter(protocol=None) if request.user.has_perm(ADD) else ()
    rows = [(draft, drafts.current(draft)) for draft in found]
    return [
        {
            "pk": draft.pk,
            "name": drafts.name_of(version) or str(draft),
            "at": version.made_at,
            "by": version.made_by,
            "is_shared": draft.is_shared,
        }
        for draft, version in rows
    ]


def _translations(definition: Definition) -> list[tuple[str, list[str]]]:
    """Return (language, places that it leaves to the original) of each translation, in words."""
    return [
        (_language(one.lang), [", ".join(place) for place in gaps(definition, one)])
        for one in definition.translations
    ]


def _language(code: str) -> str:
    """Return "Russian (ru-RU)"; the code alone where Django has no name for it."""
    try:
        name = get_language_info(code.lower())["name"]
    except KeyError:
        return code
    return f"{name} ({code})"


@researcher("surveys.add_survey")
@require_http_methods(["GET", "HEAD", "POST"])
def write_survey_type(request: HttpRequest) -> HttpResponse:
    """Write a type: from nothing, or from one that is there (`?from=`)."""
    origin = request.GET.get("from", "")
    form = DocumentForm(
        request.POST or None,
        request.FILES or None,
        initial={"document": protocols.document_of(origin, person=request.user)},
    )
    if request.method == "POST" and form.is_valid() and form.keep(request, origin=_origin(request, origin)):
        messages.success(request, f"“{form.protocol}” is kept. Choose it when you import items.")
        return redirect("survey_types")
    context = {
        **site.each_context(request),
        "title": "Write a survey type",
        "form": form,
        "origin": origin,
        "problems": form.errors.get("document", []),
    }
    return render(request, "study/write_survey_type.html", context, status=422 if form.errors else 200)


@researcher("surveys.view_survey")
@require_safe
def survey_type_file(request: HttpRequest, key: str) -> HttpResponse:
    """Send a type as the file it is."""
    text = protocols.document_of(key, person=request.user)
    if not text:
        raise Http404("No such survey type.")
    return _download(text.encode(), name=f"{key}.yaml", content_type="application/yaml; charset=utf-8")


@researcher("surveys.view_survey")
@require_safe
def survey_type_package(request: HttpRequest, key: str) -> HttpResponse:
    """Send a type as one file with its pictures, which can be uploaded anywhere."""
    text = protocols.document_of(key, person=request.user)
    if not text:
        raise Http404("No such survey type.")
    content = packed(key, document=text, protocol=_origin(request, key))
    return _download(content, name=f"{key}.zip", content_type="application/zip")


def _download(content: bytes, *, name: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


def _origin(request: HttpRequest, key: str) -> Protocol | None:
    """Return the newest version of a type of one's own, None of a built-in one or where nobody shows it."""
    return None if key in DEFINITIONS else protocols.newest(request.user).get(key)
