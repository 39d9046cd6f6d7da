"""What people hold in their hands outlasts an upgrade: links, access codes, appeal codes, a page that is still open.

`keys.json` of some old version's data has them, as its own pages gave them out; `expected/doors.json` what its pages
answered to each. The generator has asked by this module, and the tests ask by it.
"""

import json
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.test import Client

PORT = 8731
APP, MARKETPLACE = f"127.0.0.1:{PORT}", f"localhost:{PORT}"
BALANCE = "MTurkRequesterServiceV20170117.GetAccountBalance"
Told = tuple[int, str]


def doors(keys: dict[str, Any]) -> dict[str, Told]:
    """Return {key: (status, where it leads)}."""
    sign_in, codes = keys["sign_in"], keys["codes"].items()
    return {
        **{f"link of {name}": get(path) for name, path in keys["links"].items()},
        **{f"code of {name}": post(sign_in, name=name, access_code=code) for name, code in codes},
        "panel": get(keys["panel"]),
        "open page": save_draft(**keys["open_page"]),
        **{f"appeal {code}": get(f"/appeals/{code}/") for code in keys["appeals"]},
        **{f"worker {name}": sign_in_worker(name, code) for name, code in keys["workers"].items()},
        "invitation to the marketplace": get(keys["invitation"], host=MARKETPLACE),
        "requester": call(**keys["requester"]),
        "a link of nobody": get("/links/nobody/"),
        "a wrong code": post(sign_in, name="Ann", access_code="wrong"),
        "a wrong secret": call(key_id=keys["requester"]["key_id"], secret="wrong"),
    }


def get(path: str, *, host: str = APP) -> Told:
    return told(Client(headers={"host": host}).get(path))


def post(path: str, *, host: str = APP, **fields: str) -> Told:
    return told(Client(headers={"host": host}).post(path, fields))


def save_draft(path: str, body: dict[str, Any]) -> Told:
    """Send what the page's script sends while somebody chooses."""
    return told(Client(headers={"host": APP}).post(path, json.dumps(body), content_type="text/plain"))


def sign_in_worker(worker_id: str, access_code: str) -> Told:
    return post("/sign-in", host=MARKETPLACE, worker_id=worker_id, access_code=access_code)


def call(key_id: str, secret: str) -> Told:
    """Ask the marketplace for a balance, signed as boto3 signs it."""
    kind = "application/x-amz-json-1.1"
    headers = {"Host": MARKETPLACE, "Content-Type": kind, "X-Amz-Target": BALANCE}
    request = AWSRequest("POST", f"http://{MARKETPLACE}/", headers=headers, data="{}")
    SigV4Auth(Credentials(key_id, secret), "mturk-requester", "us-east-1").add_auth(request)
    return told(Client(headers=dict(request.headers)).post("/", "{}", content_type=kind))


def told(response: Any) -> Told:
    return response.status_code, response.headers.get("Location", "")
