"""What is kept about one person, for that person: a request that a researcher answers."""

import getpass
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from annotators.models import Source
from surveys import audit
from surveys.management.people import the_person
from surveys.operations.own_data import own_data


class Command(BaseCommand):
    help = "Write what is kept about one person as JSON, as the page My data hands it out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", metavar="PSEUDONYM", help="Their pseudonym, or their id.")
        parser.add_argument("file", type=Path, help="The file to write; it must not exist yet.")
        parser.add_argument("--source", choices=Source.values, help="Of which crowd, where two have that id.")

    def handle(self, *args: Any, **options: Any) -> None:
        worker = the_person(options["worker"], source=options["source"])
        try:
            options["file"].touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise CommandError(f"{options['file']} can't be written: {error.strerror}.") from error
        details = {"account": getpass.getuser()}
        audit.record(audit.Kind.DOWNLOAD, "own_data", worker=worker, details=details)
        text = json.dumps(own_data(worker), cls=DjangoJSONEncoder, indent=1)
        options["file"].write_text(text + "\n", encoding="utf-8")
        self.stdout.write(f"{options['file']}: what is kept about worker {worker.pk}.")
