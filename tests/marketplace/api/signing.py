"""Calls signed without boto3, so that anything can be sent."""

import json
from datetime import UTC, datetime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.test import Client

TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def send(key, **options):
    """Sign a call as AWS does, change some headers afterwards, and return (HTTP status, code)."""
    response = respond(key, **options)
    return response.status_code, json.loads(response.content).get("__type", "")


def respond(
    key, *, moment=None, service="mturk-requester", target=TARGET, body=b"{}", changed=None, **environ
):
    """Do what `send` does and return the whole response."""
    moment = moment or datetime.now(UTC)
    headers = {"Host": "localhost", "X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"}
    request = AWSRequest(method="POST", url="http://localhost/", data=body, headers=headers)
    signer = SigV4Auth(Credentials(*key), service, "us-east-1")
    request.context["timestamp"] = moment.strftime("%Y%m%dT%H%M%SZ")
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(text, request))
    sent = {**dict(request.headers.items()), **(changed or {})}
    return Client().post(
        "/", sent.pop("__body", body), content_type=sent.pop("Content-Type"), headers=sent, **environ
    )
