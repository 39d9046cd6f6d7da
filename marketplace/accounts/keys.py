"""Access keys and access codes: made here, shown once, checked without storing them."""

import base64
import hashlib
import hmac
import secrets

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from marketplace import ids
from marketplace.models import AccessKey, Requester, Worker

CODE_LENGTH = 16  # of 36 letters and digits: 82 bits, so that a plain digest is safe to keep


def create_key(requester: Requester) -> tuple[AccessKey, str]:
    """Make a key pair. Returns the key and its secret, which is shown now or never."""
    key_id = "AKID" + "".join(secrets.choice(ids.ALPHABET) for _ in range(16))
    key = AccessKey.objects.create(key_id=key_id, requester=requester, salt=secrets.token_hex(32))
    return key, secret_of(key)


def secret_of(key: AccessKey) -> str:
    """Return the secret: the published one of the demo key, else the one that follows from SECRET_KEY."""
    if key.known_secret:
        return key.known_secret
    message = f"{key.key_id}:{key.salt}".encode()
    digest = hmac.new(settings.SECRET_KEY.encode(), message, hashlib.sha256).digest()
    return base64.b64encode(digest)[:40].decode()


def give_new_code(worker: Worker) -> str:
    """Set, without saving, a fresh access code, and an id where there is none. Returns the code."""
    code = "".join(secrets.choice(ids.ALPHABET) for _ in range(CODE_LENGTH))
    worker.worker_id = worker.worker_id or ids.worker_id()
    worker.code_digest = code_digest(code)
    return code


def create_worker() -> tuple[Worker, str]:
    """Make a worker. Returns the worker and the access code, which is shown now or never."""
    worker = Worker()
    code = give_new_code(worker)
    worker.save()
    return worker, code


def seeded_worker(*, seed: int, number: int) -> tuple[Worker, str]:
    """Make, or find again, the numbered worker of a seed. The code follows from SECRET_KEY and the seed."""
    name = f"worker:{seed}:{number}"
    worker_id = "A" + ids.seeded(key=b"worker", message=name, length=13)
    code = ids.seeded(key=settings.SECRET_KEY.encode(), message=name, length=CODE_LENGTH)
    return Worker.objects.get_or_create(worker_id=worker_id, defaults={"code_digest": code_digest(code)})[
        0
    ], code


def code_digest(code: str) -> str:
    return salted_hmac("marketplace.access-code", code.strip().upper(), algorithm="sha256").hexdigest()


def check_code(worker: Worker, *, code: str) -> bool:
    return constant_time_compare(worker.code_digest, code_digest(code))
