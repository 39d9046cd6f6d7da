"""Prints the OpenAPI document: `python -m surveys.api > docs/openapi.json`."""

import json
import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.urls import reverse

    from surveys.api.document import api

    reverse("home")  # the addresses in the document are those of the site
    sys.stdout.write(json.dumps(api.get_openapi_schema(), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
