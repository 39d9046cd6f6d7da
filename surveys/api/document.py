"""The API and its OpenAPI document, both made of the same types."""

import re
from functools import cached_property
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

from surveys.api import batches, idempotency, invitations, problems, results, review, studies, survey_types
from surveys.api.idempotency import HEADER, LONGEST
from surveys.api.problems import Mistake, Refusal
from surveys.api.security import check_sees

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
UNKNOWN = "There is no field of this name; there is: {known}."
PROBLEM = {
    "description": "Refused, and nothing was done.",
    "content": {problems.CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


PART = re.compile(r"<(?:\w+:)?(\w+)>")  # of a route of Django's
FORM = "multipart/form-data"


class ResearchAPI(NinjaAPI):
    """Adds to ninja's document what every operation has: refusals, and where something is made, the key.

    And keeps to it: what the document does not name is refused, in the query and in forms as in JSON.
    """

    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        """Let pass what is asked by somebody who may, before it is read: ninja calls this between the two."""
        idempotency.replay(request, check=check_sees)
        names = self._names[self._operation_of(request)]
        sent = {*request.GET, *((*request.POST, *request.FILES) if request.content_type == FORM else ())}
        if unknown := sorted(sent - names):
            known = ", ".join(sorted(names)) or "none"
            raise problems.invalid(
                [Mistake(detail=UNKNOWN.format(known=known), field=one) for one in unknown]
            )
        return super().create_temporal_response(request)

    @cached_property
    def _names(self) -> dict[tuple[str, str], set[str]]:
        """Return {(path, method): the names its query and its form may have}."""
        document = self.get_openapi_schema()
        return {
            (path, method): _names_of(operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        }

    def _operation_of(self, request: HttpRequest) -> tuple[str, str]:
        route = request.resolver_match.route if request.resolver_match else ""
        return "/" + PART.sub(r"{\1}", route), (request.method or "").lower()

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**given)
        schemas = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        parts = schemas.pop("$defs")
        components = document["components"]
        components["schemas"] |= {**parts, "Problem": schemas}
        components["responses"] = {"Problem": PROBLEM}
        for path in document["paths"].values():
            for method, operation in path.items():
                for kind in ("4XX", "5XX"):
                    operation["responses"][kind] = {"$ref": "#/components/responses/Problem"}
                if method == "post":
                    operation.setdefault("parameters", []).append(KEY)
        return document


def _names_of(operation: dict[str, Any]) -> set[str]:
    query = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}
    form = operation.get("requestBody", {}).get("content", {}).get(FORM, {}).get("schema", {})
    return query | set(form.get("properties", ()))


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


@api.exception_handler(idempotency.Answered)
def on_answered(request: HttpRequest, error: idempotency.Answered) -> HttpResponse:
    return error.response


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
