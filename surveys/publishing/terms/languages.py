"""Which languages the pages of a batch's workers can be in, whatever their browser says."""

from django.conf import settings
from django.utils import translation

AS_BROWSER = "As the browser says"


def page_languages() -> list[tuple[str, str]]:
    """Return the languages a study can ask for, with their English names; first none of them."""
    names = [(code, translation.get_language_info(code)["name"]) for code, _ in settings.LANGUAGES]
    return [("", AS_BROWSER), *names]
