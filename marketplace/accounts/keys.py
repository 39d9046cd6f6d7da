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


def site_keys() -> list[str]:
    """Return the key that secrets and codes are made with, then those of earlier ones that are still good."""
    own = [settings.MARKETPLACE_KEY] if settings.MARKETPLACE_KEY else []
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return list(dict.fromkeys([*own, *settings.MARKETPLACE_KEY_FALLBACKS, *secret_keys]))


def secret_of(key: AccessKey) -> str:
    """Return the secret: the published one of the demo key, else the one that follows from the site's key."""
    return secrets_of(key)[0]


def secrets_of(key: AccessKey) -> list[str]:
    """Return the secrets that are good for a key: the one made now, then those it may have been given before."""
    if key.known_secret:
        return [key.known_secret]
    message = f"{key.key_id}:{key.salt}".encode()
    digests = [hmac.new(own.encode(), message, hashlib.sha256).digest() for own in site_keys()]
    return [base64.b64encode(digest)[:40].decode() for digest in digests]


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
    """Make, or find again, the numbered worker of a seed. The code follows from the seed and the site's key.

    One made under an earlier key keeps the code it has while that key is known, and gets another where it is not.
    """
    name = f"worker:{seed}:{number}"
    worker_id = "A" + ids.seeded(key=b"worker", message=name, length=13)
    codes = [ids.seeded(key=own.encode(), message=name, length=CODE_LENGTH) for own in site_keys()]
    digest = code_digest(codes[0])
    worker, _ = Worker.objects.get_or_create(worker_id=worker_id, defaults={"code_digest": digest})
    for code in codes:
        if check_code(worker, code=code):
            return worker, code
    worker.code_digest = digest
    worker.save(update_fields=["code_digest"])
    return worker, codes[0]


def code_digest(code: str) -> str:
    return digests("marketplace.access-code", code.strip().upper())[0]


def check_code(worker: Worker, *, code: str) -> bool:
    known = digests("marketplace.access-code", code.strip().upper())
    return any(constant_time_compare(worker.code_digest, digest) for digest in known)


def digests(purpose: str, value: str) -> list[str]:
    """Return the digest under which a code or an invitation is kept now, then those of before."""
    return [salted_hmac(purpose, value, secret=own, algorithm="sha256").hexdigest() for own in site_keys()]
