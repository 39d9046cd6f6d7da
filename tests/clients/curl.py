"""What the examples ask of curl, for a machine that has none: -H, -d, -F, -o and --fail-with-body. Source: curl(1)."""

import argparse
import sys
from pathlib import Path

import urllib3

HTTP_ERROR = 22  # curl(1), exit codes


def part(given: str) -> tuple[str, str | tuple[str, bytes]]:
    """Return a field of a form: `name=text`, or `name=@file`."""
    name, _, value = given.partition("=")
    if not value.startswith("@"):
        return name, value
    file = Path(value[1:])
    return name, (file.name, file.read_bytes())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    for name in ("--silent", "--show-error", "--fail-with-body"):
        parser.add_argument(name, action="store_true")
    for name, places in {"-H": "headers", "-F": "form"}.items():
        parser.add_argument(name, dest=places, action="append", default=[])
    parser.add_argument("-d", dest="data")
    parser.add_argument("-o", dest="output")
    parser.add_argument("url")
    given = parser.parse_args(arguments)
    headers = dict(line.split(": ", 1) for line in given.headers)
    if given.data is not None:
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    sent = {"fields": [part(one) for one in given.form]} if given.form else {"body": given.data}
    method = "GET" if given.data is None and not given.form else "POST"
    answer = urllib3.PoolManager().request(method, given.url, headers=headers, redirect=False, **sent)
    if given.output:
        Path(given.output).write_bytes(answer.data)
    else:
        sys.stdout.buffer.write(answer.data)
    return HTTP_ERROR if given.fail_with_body and answer.status >= 400 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
