"""gunicorn's settings (`--config=config/gunicorn.py`): its own lines keep secrets as ours do."""

from typing import Any

from django.conf import settings
from gunicorn import glogging  # type: ignore[import-untyped]

from config.logs import JsonFormatter, mask


class Logger(glogging.Logger):  # type: ignore[misc]
    """Masks the access log; with LOG_FORMAT=json the app writes it, and the rest becomes JSON."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        if settings.LOG_FORMAT == "json":
            for handler in self.error_log.handlers:
                handler.setFormatter(JsonFormatter())

    def atoms(self, resp: Any, req: Any, environ: Any, request_time: Any) -> dict[str, Any]:
        found = super().atoms(resp, req, environ, request_time)
        found["q"] = "***" if found.get("q") else ""
        return {name: mask(value) if isinstance(value, str) else value for name, value in found.items()}

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        if settings.LOG_FORMAT != "json":
            super().access(resp, req, environ, request_time)


logger_class = Logger
