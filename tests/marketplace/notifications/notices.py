"""Who listens to notifications in tests, and what was told."""

import json
from http.server import BaseHTTPRequestHandler

import pytest
from botocore.exceptions import ClientError

from marketplace.api import service_model
from marketplace.models import Event

QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/lab"
ALL = [name for name in service_model.service().shape_for("EventType").enum if name != "Ping"]


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.received.append((self.path, dict(self.headers.items()), body))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def spec(destination=QUEUE, *, transport="SQS", events=ALL, version="2014-08-15"):
    return {
        "Destination": destination,
        "Transport": transport,
        "Version": version,
        "EventTypes": events,
    }


def kept():
    return [(row.body["EventType"], row.body["HITId"]) for row in Event.objects.order_by("pk")]


def told(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def refused(call, **values):
    with pytest.raises(ClientError) as caught:
        call(**values)
    return caught.value.response.get("TurkErrorCode") or caught.value.response["Error"]["Code"]
