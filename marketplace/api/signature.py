"""Signature Version 4, verified. Source: AWS General Reference, "Signature Version 4 signing process"."""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from marketplace.accounts import keys
from marketplace.api.errors import ApiError, not_signed_in
from marketplace.models import AccessKey, Requester

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
# What a proxy or a tunnel adds, and what begins so: X-Forwarded-For, -Host and -Proto, CF-Connecting-IP, CF-Ray.
OF_A_PROXY = ("HTTP_FORWARDED", "HTTP_X_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_CF_")
MAXIMUM_SKEW = timedelta(minutes=15)
HEADER = re.compile(
    rf"{ALGORITHM} Credential=(?P<key>[^/,\s]+)/(?P<day>\d{{8}})/(?P<region>[a-z0-9-]+)/(?P<service>[a-z0-9-]+)"
    r"/aws4_request,\s*SignedHeaders=(?P<headers>[a-z0-9;-]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Credential:
    """The Authorization header taken apart."""

    key_id: str
    day: str
    region: str
    service: str
    headers: tuple[str, ...]
    signature: str

    @property
    def scope(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/aws4_request"


def authenticate(request: HttpRequest) -> Requester:
    """Return the requester who signed the request. Raises ApiError as AWS refuses."""
    credential = _credential(request.headers.get("Authorization", ""))
    key = (
        AccessKey.objects.filter(key_id=credential.key_id, is_active=True).select_related("requester").first()
    )
    if key is None or (key.loopback_only and not _is_loopback(request.META)):
        raise not_signed_in(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    stamp = request.headers.get("X-Amz-Date", "")
    _check_scope(credential, stamp=stamp)
    _check_time(stamp)
    text = _string_to_sign(request, credential=credential, stamp=stamp)
    expected = [_sign(text, secret=secret, credential=credential) for secret in keys.secrets_of(key)]
    if not any(constant_time_compare(one, credential.signature) for one in expected):
        raise _refused("The request signature does not match the one computed here from your secret key.")
    return key.requester


def _is_loopback(meta: dict[str, str]) -> bool:
    """Tell whether a request came straight from this machine, not through a proxy or a tunnel that ends on it."""
    if any(name.startswith(OF_A_PROXY) for name in meta):
        return False
    try:
        return ipaddress.ip_address(meta.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _credential(header: str) -> Credential:
    if not header:
        raise not_signed_in("MissingAuthenticationTokenException", "Missing Authentication Token")
    match = HEADER.fullmatch(header.strip())
    if match is None:
        raise not_signed_in(
            "IncompleteSignatureException", "The Authorization header is not a complete signature."
        )
    key, day, region, service, headers, signature = match.groups()
    return Credential(key, day, region, service, tuple(headers.split(";")), signature)


def _check_scope(credential: Credential, *, stamp: str) -> None:
    if credential.service != SERVICE:
        raise _refused(f"Credential should be scoped to correct service: '{SERVICE}'.")
    if credential.day != stamp[:8] or not {"host", "x-amz-date", "x-amz-target"} <= set(credential.headers):
        raise _refused("The signature must cover the host, the target and the date of its own scope.")


def _check_time(stamp: str) -> None:
    """Compare with real time: the marketplace's clock may have been moved, the requester's has not."""
    try:
        signed_at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise _refused("The date of the signature is not an ISO 8601 basic date.") from error
    skew = timezone.now() - signed_at
    if abs(skew) > MAXIMUM_SKEW:
        word = "expired" if skew > MAXIMUM_SKEW else "not yet current"
        raise _refused(f"Signature {word}: {stamp} is more than 15 minutes from this server's time.")


def _refused(message: str) -> ApiError:
    return not_signed_in("InvalidSignatureException", message)


def _string_to_sign(request: HttpRequest, *, credential: Credential, stamp: str) -> str:
    canonical = "\n".join(
        (
            request.method or "",
            quote(request.path, safe="/~"),
            _canonical_query(request.META.get("QUERY_STRING", "")),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in credential.headers),
            "",
            ";".join(credential.headers),
            hashlib.sha256(request.body).hexdigest(),
        )
    )
    return "\n".join((ALGORITHM, stamp, credential.scope, hashlib.sha256(canonical.encode()).hexdigest()))


def _canonical_query(query: str) -> str:
    pairs = sorted(parse_qsl(query, keep_blank_values=True))
    return "&".join(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in pairs)


def _sign(text: str, *, secret: str, credential: Credential) -> str:
    key = f"AWS4{secret}".encode()
    for part in (credential.day, credential.region, credential.service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
