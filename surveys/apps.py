from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "surveys"
    verbose_name = "Surveys"

    def ready(self) -> None:
        from surveys.operations import system_checks  # noqa: F401 (registers itself)
