#!/usr/bin/env python
"""Django's command-line entry. `manage.py version` is ours: Django would answer as to `--version`, with its own."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings
    from django.core.management import execute_from_command_line

    if sys.argv[1:] == ["version"]:
        sys.stdout.write(f"Assent {settings.VERSION}\n")
    else:
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
