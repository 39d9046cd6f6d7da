"""The way in."""

from collections.abc import Iterator

from assent_client.transport import Transport
from assent_client.work import Batch, Content, Study, SurveyType, file_of


class Client:
    """An Assent at `url`, asked with your `token`. What you may is what your role and teams let you do on its pages."""

    def __init__(self, url: str, token: str, *, timeout: float = 60) -> None:
        self._ask = Transport(url, token, timeout=timeout)

    def studies(self) -> Iterator[Study]:
        """Yield the studies you see, the newest first."""
        return (Study.of(row, _ask=self._ask) for row in self._ask.pages("/studies"))

    def study(self, slug: str) -> Study:
        return Study.of(self._ask.get(f"/studies/{slug}"), _ask=self._ask)

    def create_study(self, name: str, *, survey_type: str, key: str | None = None) -> Study:
        """Make a study without items. `survey_type` is a key of `survey_types`."""
        body = {"name": name, "survey_type": survey_type}
        return Study.of(self._ask.post("/studies", body, key=key), _ask=self._ask)

    def batch(self, pk: int) -> Batch:
        return Batch.of(self._ask.get(f"/batches/{pk}"), _ask=self._ask)

    def survey_types(self) -> list[SurveyType]:
        return [SurveyType.of(row) for row in self._ask.get("/survey-types")["results"]]

    def survey_type(self, key: str) -> SurveyType:
        """Return a type with its document, YAML."""
        return SurveyType.of(self._ask.get(f"/survey-types/{key}"))

    def upload_survey_type(self, file: Content, *, is_shared: bool = False) -> SurveyType:
        """Keep a YAML document (or a ZIP of it and its pictures) as a type of yours."""
        files = {"file": file_of(file, "protocol.yaml")}
        return SurveyType.of(self._ask.upload("/survey-types", {"is_shared": is_shared}, files))
