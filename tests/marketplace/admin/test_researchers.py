"""What somebody in the role Researcher sees of the marketplace: the accounts they are named in, and nothing else."""

import re

import pytest
from django.utils import timezone

from marketplace.accounts import contact, keys
from marketplace.models import AccessKey, Entry, Requester, Worker
from marketplace.money import ledger
from tests.marketplace.admin.researchers import researcher_of
from tests.marketplace.batches.batches_made import hits, published, work

LISTS = (
    "requester",
    "accesskey",
    "templatebatch",
    "hittype",
    "hit",
    "assignment",
    "entry",
    "bonus",
    "worker",
    "block",
)


def fill(requester):
    """Give a requester one row in every list."""
    ledger.deposit(requester, cents=10_000, now=timezone.now())
    keys.create_key(requester)
    worker, now = keys.create_worker()[0], timezone.now()
    row = work(hits(published(requester, table=b"picture,question\n1,2\n"))[0], worker=worker, answer="-")
    ledger.send_bonus(row, worker_id=worker.worker_id, cents=10, reason="", token=None, now=now)
    contact.block(requester, worker=worker, reason="-")


@pytest.fixture
def labs(db, settings):
    """Two requesters with the same rows."""
    settings.APP_HOST = "127.0.0.1"
    made = [Requester.objects.create(name=name) for name in ("Vision Lab", "Other Lab")]
    for requester in made:
        fill(requester)
    return made


def rows(client, model):
    """Return how many rows a list shows."""
    page = client.get(f"/admin/marketplace/{model}/").content.decode()
    assert "Other Lab" not in page
    return len(re.findall(r'<th class="field-', page))


def test_each_list_holds_the_own_rows_only(labs):
    client = researcher_of(labs[0])
    seen = {model: rows(client, model) for model in LISTS}
    assert seen.pop("entry") == Entry.objects.filter(requester=labs[0]).count()
    assert seen == dict.fromkeys(seen, 1)


def test_another_requesters_rows_do_not_open(labs):
    client = researcher_of(labs[0])
    other = AccessKey.objects.get(requester=labs[1])
    address = f"/admin/marketplace/accesskey/{other.pk}/change/"
    assert client.get(address).status_code == 302
    client.post("/admin/marketplace/accesskey/", {"action": "revoke", "_selected_action": [other.pk]})
    other.refresh_from_db()
    assert other.is_active is True


def test_a_researcher_makes_keys_but_no_money(labs):
    client = researcher_of(labs[0])
    both = [requester.pk for requester in labs]
    page = client.post("/admin/marketplace/requester/", {"action": "make_key", "_selected_action": both})
    assert re.findall(r"<td><code>(.*?)</code>", page.content.decode())[0::3] == ["Vision Lab"]
    client.post("/admin/marketplace/requester/", {"action": "deposit", "_selected_action": both})
    assert Entry.objects.filter(source="outside").count() == 2
    assert (
        client.post(f"/admin/marketplace/requester/{labs[0].pk}/change/", {"name": "Mine"}).status_code == 403
    )


def test_a_researcher_changes_no_worker_and_invites_nobody(labs):
    client = researcher_of(labs[0])
    worker = Worker.objects.filter(assignments__hit__requester=labs[0]).get()
    client.post("/admin/marketplace/worker/", {"action": "new_code", "_selected_action": [worker.pk]})
    before = worker.code_digest
    worker.refresh_from_db()
    assert worker.code_digest == before
    assert client.get("/admin/marketplace/worker/add/").status_code == 403
    assert client.get("/admin/marketplace/invitation/").status_code == 403
    assert client.get("/admin/marketplace/invitation/add/").status_code == 403
