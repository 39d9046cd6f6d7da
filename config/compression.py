"""Pages go compressed where nobody can learn a secret from their length (BREACH, https://www.breachattack.com).

Such an attack has a visitor's browser ask for a page with its cookies, with a guess in the address, and looks at the
length: so it comes from another site and for a page that a cookie opens. A page that its address alone opens (a HIT, a
personal link) has nothing for who can ask for it with a guess in it: they can read it themselves. On top of that each
compressed answer is longer by up to 100 random bytes (`GZipMiddleware.max_random_bytes`).

Not compressed: what a cookie opens where the browser does not say that it asks by itself (Sec-Fetch-Site, which is
sent over HTTPS and on this machine only; our two sites are strangers to each other); files that are sent while they are
made, because it would cost more time than it saves; answers of the marketplace's API; pictures, which are compressed
by their formats. Static files are compressed once, by WhiteNoise's `collectstatic`.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

BY_ITSELF = {"same-origin", "none"}  # https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header


class PageCompressionMiddleware(GZipMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not _is_page(response) or not _is_safe(request):
            return response
        return super().process_response(request, response)


def _is_page(response: HttpResponseBase) -> bool:
    return response.get("Content-Type", "").startswith("text/html")


def _is_safe(request: HttpRequest) -> bool:
    return not request.COOKIES or request.headers.get("Sec-Fetch-Site") in BY_ITSELF
