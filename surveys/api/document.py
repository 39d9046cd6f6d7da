"""The API and its OpenAPI document, both made of the same types."""

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from surveys.api import batches, invitations, problems, results, review, studies, survey_types
from surveys.api.idempotency import HEADER, LONGEST
from surveys.api.problems import Refusal

ABOUT = (
    "What the pages of Assent do, for scripts. Ask with `Authorization: Bearer`, and a token that you make on the page "
    "“API tokens”. What you may is what your role and your teams let you do on the pages. A refusal is a problem "
    "(RFC 9457) and has changed nothing."
)
KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST},
    "description": "A name of your own for this request. Sent again with the same key within a day, it is done once.",
}
PROBLEM = {
    "description": "Refused, and nothing was done.",
    "content": {problems.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


class ResearchAPI(NinjaAPI):
    """Adds to ninja's document what every operation has: refusals, and where something is made, the key."""

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**given)
        schemas = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        parts = schemas.pop("$defs")
        components = document["components"]
        components["schemas"] |= {**parts, "Problem": schemas}
        components["responses"] = {"Problem": PROBLEM}
        for path in document["paths"].values():
            for method, operation in path.items():
                operation["responses"]["4XX"] = {"$ref": "#/components/responses/Problem"}
                if method == "post":
                    operation.setdefault("parameters", []).append(KEY)
        return document


api = ResearchAPI(
    title="Assent",
    version="1",
    description=ABOUT,
    urls_namespace="api",
    docs_url=None,
)
for part in (studies, batches, invitations, results, review, survey_types):
    api.add_router("", part.router)


def unauthorised() -> Refusal:
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        "not-signed-in",
        "Send “Authorization: Bearer” with a token that is neither revoked nor expired.",
        headers={"WWW-Authenticate": 'Bearer realm="Assent"'},
    )


@api.exception_handler(Refusal)
def on_refusal(request: HttpRequest, error: Refusal) -> HttpResponse:
    return error.response()


@api.exception_handler(AuthenticationError)
def on_nobody(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return unauthorised().response()


@api.exception_handler(ValidationError)
def on_validation(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return problems.of_validation(error).response()


@api.exception_handler(Http404)
def on_missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return problems.not_found().response()


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return Refusal(error.status_code, "malformed", str(error)).response()
