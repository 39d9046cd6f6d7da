"""What language a study asks for, where its worker asked for none."""

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from surveys.models import Batch

AS_BROWSER = "As the browser says"


def choices() -> list[tuple[str, str]]:
    """Return the languages a study can ask for, with their English names; first none of them."""
    names = [(code, translation.get_language_info(code)["name"]) for code, _ in settings.LANGUAGES]
    return [("", AS_BROWSER), *names]


def follow(batch: Batch, request: HttpRequest) -> None:
    """Go on in the language the batch asks for. The middleware ends it with the request."""
    is_offered = batch.page_language in dict(settings.LANGUAGES)
    if is_offered and not getattr(request, "chosen_language", ""):
        translation.activate(batch.page_language)
