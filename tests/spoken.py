"""What a page says, and what of it is left in English where it should be Russian."""

import re
from html.parser import HTMLParser

READ_ALOUD = {"alt", "title", "placeholder", "aria-label", "label", "data-over", "data-done"}
SAME_EVERYWHERE = {"Enter", "Shift", "Tab", "UTC", "HIT", "Assent", "JSON"}
LATIN = re.compile(r"\b(?=\w*[a-z])[A-Za-z]{3,}\b")  # ids are of capitals and digits
CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)


class Shown(HTMLParser):
    """The texts of a page, attributes that are read aloud included, without scripts, codes and names of languages."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_data = tag in {"script", "style", "code", "output"} or ("hreflang", "en") in attrs
        self.texts += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        self.is_data = False

    def handle_data(self, data: str) -> None:
        if data.strip() and not self.is_data:
            self.texts.append(data.strip())


def english_in(page: str, *, of_study: str) -> list[str]:
    """Return texts in Latin letters alone that are no part of what the study, or a requester, itself says."""
    parser = Shown()
    parser.feed(page)
    return [
        text
        for text in parser.texts
        if set(LATIN.findall(text)) - SAME_EVERYWHERE
        and not CYRILLIC.search(text)
        and not all(part in of_study for part in text.strip(" :·").split(": "))
    ]
