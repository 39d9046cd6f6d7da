"""What language a study asks for, where its worker asked for none."""

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from surveys.answering.presentation import BROWSERS
from surveys.models import Batch


def follow(batch: Batch, request: HttpRequest) -> None:
    """Go on in the language the batch asks for. The middleware ends it with the request."""
    is_offered = batch.page_language in dict(settings.LANGUAGES)
    if is_offered and not getattr(request, "chosen_language", ""):
        translation.activate(batch.page_language)
        BROWSERS.set(())
