#!/usr/bin/env python
"""Django's command-line entry. `manage.py version` is ours: Django would answer as to `--version`, with its own."""

import gc
import os
import sys

import config  # noqa: F401 (what it sets has to stand before anything large is imported)

# Commands over files, and their app. They start without models and addresses, a third of what a small file takes, and
# load them (`django.setup`) where somebody asks for something of the database.
WITHOUT_APPS = {"evaluate_results": "surveys"}


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
    elif len(sys.argv) > 1 and sys.argv[1] in WITHOUT_APPS:
        run_without_apps(sys.argv[1])
    else:
        execute_from_command_line(sys.argv)


def run_without_apps(name: str) -> None:
    """Run a command as Django would, but for the apps. What is loaded stays, so no cycles are looked for in it: not
    while it is loaded, not later, and not at the end, when Python looks through all there is."""
    from django.core.management import load_command_class

    gc.disable()
    command = load_command_class(WITHOUT_APPS[name], name)
    gc.freeze()
    gc.enable()
    command.run_from_argv(sys.argv)


if __name__ == "__main__":
    main()
