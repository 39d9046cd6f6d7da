"""Take the texts of workers' pages out of the code into the catalogues, and compile these: docs/translating.md.

python locale/update.py           writes locale/<language>/LC_MESSAGES/{django,djangojs}.{po,mo}
python locale/update.py --check   writes nothing, and fails where a text is missing, unused, unsure or not compiled

Babel in the place of the gettext programs, which neither a developer nor a gate then has to have.
"""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
SOURCES = {
    "django": (
        ("python", ROOT, "config/**/*.py"),
        ("python", ROOT, "annotators/**/*.py"),
        ("python", ROOT, "surveys/**/*.py"),
        ("python", ROOT, "marketplace/**/*.py"),
        ("template", ROOT, "templates/**/*.html"),
    ),
    "djangojs": (("javascript", ROOT, "static/**/*.js"),),
}
KEYWORDS = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "_": None,
    "say": None,
}
COMMENT = ["Translators:"]
DATES = re.compile(r'^"(?:POT-Creation|PO-Revision)-Date:.*\n', re.MULTILINE)
FIXED = datetime(2026, 1, 1, tzinfo=UTC)  # a catalogue is the same whenever it was made


def languages() -> list[str]:
    """Return the languages there are catalogues of."""
    return sorted(folder.parent.name for folder in LOCALE.glob("*/LC_MESSAGES"))


def texts(domain: str) -> Catalog:
    """Return what the code asks for, with the files that ask."""
    found = Catalog(domain=domain)
    for kind, root, pattern in SOURCES[domain]:
        for path in sorted(root.glob(pattern)):
            for _, message, comments, context in _of_file(path, kind=kind):
                name = path.relative_to(ROOT).as_posix()
                found.add(message, None, [(name, 0)], auto_comments=comments, context=context)
    return found


def _of_file(path: Path, *, kind: str) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    source = path.read_text()
    if (
        kind == "template"
    ):  # as calls, between names that mean nothing; their indentation means nothing either
        source = "\n".join(line.lstrip() for line in templatize(source).splitlines())
    if kind == "javascript":
        yield from extract(kind, BytesIO(source.encode()), keywords={"gettext": None}, comment_tags=COMMENT)
    else:
        yield from extract("python", BytesIO(source.encode()), keywords=KEYWORDS, comment_tags=COMMENT)


def catalogue(language: str, domain: str) -> Catalog:
    """Return a catalogue as it stands, brought up to what the code asks for; what nobody asks for is `obsolete`."""
    path = file_of(language, domain)
    known = (
        read_po(BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog(locale=language)
    )
    known.update(texts(domain), no_fuzzy_matching=True)
    known.domain, known.project, known.version = domain, "Assent", ""
    known.creation_date = known.revision_date = FIXED
    return known


def file_of(language: str, domain: str, suffix: str = "po") -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.{suffix}"


def written(known: Catalog) -> bytes:
    """Return the .po file of a catalogue."""
    out = BytesIO()
    write_po(out, known, width=110, ignore_obsolete=True, include_lineno=False)
    return DATES.sub("", out.getvalue().decode()).encode()


def compiled(known: Catalog) -> bytes:
    """Return the .mo file of a catalogue."""
    out = BytesIO()
    write_mo(out, known)
    return out.getvalue()


def problems(language: str, domain: str) -> list[str]:
    """Return a sentence for whatever is not as it should be."""
    known = catalogue(language, domain)
    found = [
        f"not translated: {_text(message)!r}" for message in known if message.id and not _is_told(message)
    ]
    found += [f"marked fuzzy: {_text(message)!r}" for message in known if message.id and message.fuzzy]
    found += [f"nobody asks for it any more: {key!r}" for key in known.obsolete]
    found += [f"{error}: {_text(message)!r}" for message, errors in known.check() for error in errors]
    files = {"po": written(known), "mo": compiled(known)}
    stale = [suffix for suffix, data in files.items() if _data(language, domain, suffix) != data]
    found += [f"{domain}.{suffix} is not what update.py writes" for suffix in stale]
    return [f"{language}/{domain}: {sentence}" for sentence in found]


def _data(language: str, domain: str, suffix: str) -> bytes:
    path = file_of(language, domain, suffix)
    return path.read_bytes() if path.exists() else b""


def _text(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _is_told(message: Message) -> bool:
    return all(message.string) if isinstance(message.string, tuple | list) else bool(message.string)


def main() -> int:
    pairs = [(language, domain) for language in languages() for domain in SOURCES]
    if "--check" not in sys.argv:
        for language, domain in pairs:
            known = catalogue(language, domain)
            file_of(language, domain).write_bytes(written(known))
            file_of(language, domain, "mo").write_bytes(compiled(known))
    found = [sentence for pair in pairs for sentence in problems(*pair)]
    sys.stdout.write("".join(f"{sentence}\n" for sentence in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
