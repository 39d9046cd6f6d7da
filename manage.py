#!/usr/bin/env python
"""Django's command-line entry. `manage.py version` is ours: Django would answer as to `--version`, with its own."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured

    try:
        run()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Exception as error:
        from surveys.operations import disk

        if fault := disk.fault(error):
            sys.exit(f"{error}\n{fault}")
        raise


def run() -> None:
    from django.conf import settings
    from django.core.management import execute_from_command_line

    if sys.argv[1:] == ["version"]:
        sys.stdout.write(f"Assent {settings.VERSION}\n")
    else:
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
