"""Where e-mail goes, read from one address as the database is."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

CONSOLE = "django.core.mail.backends.console.EmailBackend"
SMTP = "django.core.mail.backends.smtp.EmailBackend"
PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail server in Django's terms. `tls`: STARTTLS after the greeting; `ssl`: TLS from the first byte."""

    backend: str
    host: str = ""
    port: int = 25
    name: str = ""
    password: str = ""
    tls: bool = False
    ssl: bool = False


def read_mail_url(url: str) -> Mail:
    """Read smtp://, smtp+tls:// (STARTTLS) or smtps://[name:password@]host[:port]; empty: the log.

    Name and password are percent-encoded. Raises ImproperlyConfigured for anything else, without repeating it.
    """
    if not url:
        return Mail(CONSOLE)
    try:
        parts = urlsplit(url)
        given = parts.port
    except ValueError:
        raise ImproperlyConfigured(
            "EMAIL_URL can't be read: a port is a number from 1 to 65535, and name and password are percent-encoded."
        ) from None
    if parts.scheme not in PORTS:
        raise ImproperlyConfigured("EMAIL_URL must begin with smtp://, smtp+tls:// or smtps://.")
    if not parts.hostname:
        raise ImproperlyConfigured("EMAIL_URL names no host.")
    return Mail(
        SMTP,
        parts.hostname,
        given or PORTS[parts.scheme],
        name=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        tls=parts.scheme == "smtp+tls",
        ssl=parts.scheme == "smtps",
    )
