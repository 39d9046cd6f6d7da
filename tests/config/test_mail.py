"""Where e-mail goes."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.mail import Mail, read_mail_url

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("url", "mail"),
    [
        ("", Mail("django.core.mail.backends.console.EmailBackend")),
        ("smtp://mail.example.org", Mail(SMTP, "mail.example.org", 25)),
        ("smtp://127.0.0.1:2525", Mail(SMTP, "127.0.0.1", 2525)),
        (
            "smtp+tls://ada%40example.org:p%40ss%2Fword@mail.example.org",
            Mail(SMTP, "mail.example.org", 587, name="ada@example.org", password="p@ss/word", tls=True),
        ),
        (
            "smtps://ada:secret@mail.example.org:4650",
            Mail(SMTP, "mail.example.org", 4650, name="ada", password="secret", ssl=True),
        ),
    ],
)
def test_an_address_says_it_all(url, mail):
    assert read_mail_url(url) == mail


@pytest.mark.parametrize(
    "url", ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://:s3cret@", "smtp://h:port"]
)
def test_what_is_no_mail_server_is_refused_without_telling_the_password(url):
    with pytest.raises(ImproperlyConfigured) as error:
        read_mail_url(url)
    assert "s3cret" not in str(error.value)
    assert str(error.value).startswith("EMAIL_URL ")


def test_a_port_that_is_none_is_not_blamed_on_the_scheme():
    with pytest.raises(ImproperlyConfigured, match="a port is a number from 1 to 65535"):
        read_mail_url("smtp://h:99999")
