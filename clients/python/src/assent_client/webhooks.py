"""Is a message really from Assent, and is it new?"""

import hashlib
import hmac
import time

FRESH_SECONDS = 300


def is_signed(body: bytes, *, signature: str, secret: str, within: float = FRESH_SECONDS) -> bool:
    """Tell whether `Assent-Signature` was made of this body with this secret, in the last `within` seconds."""
    parts = dict(part.split("=", 1) for part in signature.split(",") if "=" in part)
    at, signed = parts.get("t", ""), parts.get("v1", "")
    if not (at.isascii() and at.isdecimal()) or abs(time.time() - int(at)) > within:
        return False
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(made.encode(), signed.encode())
