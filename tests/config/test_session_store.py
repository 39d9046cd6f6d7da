"""A session's key is what whoever asks says it is."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
NULL_BYTE = r'sessionid="abcdefgh\000"'


@pytest.mark.parametrize(
    ("host", "path", "status"), [("localhost", "/", 200), ("testserver", "/admin/", 302)]
)
@pytest.mark.parametrize(
    "cookie", [NULL_BYTE, "sessionid=abcdefghé", "sessionid=a", "sessionid=" + "a" * 9_000]
)
def test_a_key_that_was_never_given_out_is_nobodys(host: str, path: str, status: int, cookie: str) -> None:
    answer = Client(headers={"host": host, "cookie": cookie}).get(path)
    assert answer.status_code == status
