"""Survey types while they are written: every change a version, nothing overwritten, nothing lost."""

import pytest
from django.contrib.auth.models import User

from surveys.models import Protocol, ProtocolDraft
from surveys.studies import drafts
from surveys.studies.drafts import DraftRefused
from tests.surveys.protocols.test_documents import PLAIN

pytestmark = pytest.mark.django_db
KEY = PLAIN.split("protocol: ")[1].split()[0]


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann", is_staff=True)


@pytest.fixture
def bea() -> User:
    return User.objects.create_user("bea", is_staff=True)


@pytest.fixture
def draft(ann: User) -> ProtocolDraft:
    return drafts.begin(PLAIN, by=ann)


def now(draft: ProtocolDraft) -> str:
    return drafts.current(ProtocolDraft.objects.get(pk=draft.pk)).document


def test_a_change_is_a_version_and_a_repeat_is_none(draft: ProtocolDraft, ann: User) -> None:
    first = drafts.save(draft, "title: one", by=ann, after=1)
    again = drafts.save(draft, "title: one", by=ann, after=1)
    assert (first.version.number, again.version.number, draft.versions.count()) == (2, 2, 2)
    assert again.overtaken_by is None


def test_who_comes_second_overwrites_nothing_and_loses_nothing(
    draft: ProtocolDraft, ann: User, bea: User
) -> None:
    theirs = drafts.save(draft, "title: bea", by=bea, after=1)
    mine = drafts.save(draft, "title: ann", by=ann, after=1)
    again = drafts.save(draft, "title: ann", by=ann, after=1)
    assert now(draft) == "title: bea"
    assert mine.overtaken_by == theirs.version
    assert (mine.version.document, mine.version.is_aside, again.version) == ("title: ann", True, mine.version)


def test_changes_are_undone_and_done_again(draft: ProtocolDraft, ann: User, bea: User) -> None:
    drafts.save(draft, "title: one", by=ann, after=1)
    drafts.save(draft, "title: two", by=ann, after=2)
    drafts.save(draft, "title: late", by=bea, after=2)
    assert [drafts.step(draft, is_back=True, after=n) for n in (3, 3, 2, 1)] == [True, False, True, False]
    assert now(draft) == PLAIN
    assert [drafts.step(draft, is_back=False, after=n) for n in (1, 2, 3)] == [True, True, False]
    assert now(draft) == "title: two"


def test_a_change_after_undoing_leaves_the_undone_one_among_the_versions(
    draft: ProtocolDraft, ann: User
) -> None:
    drafts.save(draft, "title: one", by=ann, after=1)
    drafts.step(draft, is_back=True, after=2)
    saved = drafts.save(draft, "title: other", by=ann, after=1)
    assert (saved.version.number, saved.version.before) == (3, 1)
    assert draft.versions.get(number=2).document == "title: one"


def test_old_versions_are_forgotten(draft: ProtocolDraft, ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_VERSIONS", 3)
    for n in range(1, 6):
        drafts.save(draft, f"title: {n}", by=ann, after=n)
    assert list(draft.versions.values_list("number", flat=True)) == [4, 5, 6]


def test_a_draft_becomes_a_type_once(draft: ProtocolDraft, ann: User) -> None:
    with pytest.raises(DraftRefused):
        drafts.publish(draft, by=ann, after=2)
    protocol = drafts.publish(draft, by=ann, after=1)
    assert (protocol.document, list(protocol.team.all())) == (PLAIN, [ann])
    for act in (drafts.publish, lambda draft, **given: drafts.save(draft, "title: x", **given)):
        with pytest.raises(DraftRefused):
            act(draft, by=ann, after=1)
    assert Protocol.objects.count() == 1


def test_problems_have_places(draft: ProtocolDraft, ann: User) -> None:
    def places(document: str) -> list[tuple]:
        return [problem.path for problem in drafts.reading_of(draft, document, by=ann).problems]

    assert places(PLAIN) == []
    assert places(PLAIN.replace("score: 1", "score: one", 1)) == [("scales", "agree", 1, "score")]
    assert places(PLAIN.replace(f"protocol: {KEY}", "protocol: xai")) == [("key",)]
    assert places("title: [") == []


def test_drafts_are_seen_by_their_team(draft: ProtocolDraft, ann: User, bea: User) -> None:
    assert [list(drafts.seen_by(person)) for person in (ann, bea)] == [[draft], []]
    ProtocolDraft.objects.update(is_shared=True)
    assert list(drafts.seen_by(bea)) == [draft]


def test_the_next_version_of_a_type_is_for_its_team(draft: ProtocolDraft, ann: User, bea: User) -> None:
    protocol = drafts.publish(draft, by=ann, after=1)
    protocol.team.add(bea)
    assert set(drafts.begin(PLAIN, by=ann, origin=protocol).team.all()) == {ann, bea}
    cem = User.objects.create_user("cem", is_staff=True)
    assert set(drafts.begin(PLAIN, by=cem, origin=protocol).team.all()) == {cem}
