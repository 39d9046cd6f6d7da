"""What researchers are mailed about, when, and that it is once."""

import threading
from datetime import timedelta
from smtplib import SMTPServerDisconnected
from unittest.mock import patch

import pytest
from aiosmtpd.controller import Controller
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from annotators.models import Assignment
from surveys import sync
from surveys.models import Alarm, Appeal, Batch, Decision, Questionnaire
from surveys.operations import alarms
from surveys.operations.processes.stack import free_port
from tests import factories
from tests.appeals import appealed
from tests.people import role_of

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def surroundings(settings: Settings) -> None:
    settings.APP_URL = "https://assent.example.org"
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    settings.DEFAULT_FROM_EMAIL = "assent@example.org"


@pytest.fixture
def questionnaire(db: None) -> Questionnaire:
    """Of a batch that is approved after a day: the warning comes six hours before."""
    return factories.make_published(auto_approval_delay=24 * HOUR, name="Pilot")


def waiting(questionnaire: Questionnaire, *, hours: float, **values) -> Assignment:
    """Submitted, and approved by itself in some hours."""
    deadline = timezone.now() + hours * HOUR
    return factories.make_assignment(
        questionnaire.hit, status="Submitted", auto_approval_at=deadline, **values
    )


def decide(assignment: Assignment, verdict: str) -> None:
    Decision.objects.create(assignment=assignment, verdict=verdict, reason="So.", decided_at=timezone.now())


def subjects() -> list[str]:
    return [message.subject for message in mail.outbox]


def later(**values) -> None:
    """Let time pass for everything that was seen and claimed."""
    Alarm.objects.update(**{name: timezone.now() - ago for name, ago in values.items()})


# -- Deadlines --------------------------------------------------------------------------------------------------------


def test_work_near_its_deadline_is_mailed_about_once(questionnaire):
    waiting(questionnaire, hours=5)
    assert alarms.send_due() == 1
    assert alarms.send_due() == 0
    assert subjects() == ["[Assent] Pilot: 1 undecided assignment near the deadline"]
    assert mail.outbox[0].to == ["lab@example.org"]
    assert mail.outbox[0].from_email == "assent@example.org"


def test_the_mail_says_how_many_until_when_and_where(questionnaire):
    first, last = waiting(questionnaire, hours=2), waiting(questionnaire, hours=4)
    alarms.send_due()
    body = mail.outbox[0].body
    assert "2 assignments of the batch “Pilot”" in body
    for assignment in (first, last):
        assert f"{assignment.auto_approval_at:%Y, %H:%M} UTC" in body
    address = f"https://assent.example.org/batches/{questionnaire.batch_id}/assignments/?status=Submitted"
    assert address in body


def test_the_mail_names_no_worker(questionnaire):
    assignment = waiting(questionnaire, hours=2, worker=factories.make_worker("A1WORKER"))
    alarms.send_due()
    text = mail.outbox[0].message().as_string()
    assert "A1WORKER" not in text
    assert assignment.assignment_id not in text


def test_nothing_is_mailed_while_there_is_time(questionnaire):
    waiting(questionnaire, hours=7)
    assert alarms.send_due() == 0
    assert not Alarm.objects.exists()


def test_one_mail_covers_what_comes_next_too(questionnaire):
    """Else each assignment would be a mail of its own, a minute after the other."""
    for hours in (5, 7, 11):
        waiting(questionnaire, hours=hours)
    far = waiting(questionnaire, hours=13)
    assert alarms.send_due() == 1
    assert "3 undecided" in subjects()[0]
    assert alarms.send_due() == 0
    Assignment.objects.filter(pk=far.pk).update(auto_approval_at=timezone.now() + 5 * HOUR)
    assert alarms.send_due() == 1
    assert "1 undecided" in subjects()[1]


def test_the_warning_comes_sooner_where_there_is_more_time():
    hasty = factories.make_published(auto_approval_delay=4 * HOUR)
    waiting(hasty, hours=1.5)
    assert alarms.send_due() == 0
    waiting(hasty, hours=0.5)
    assert alarms.send_due() == 1


@pytest.mark.parametrize("verdict", ["flag", "propose", "reject"])
def test_what_the_marketplace_has_not_heard_of_counts(questionnaire, verdict):
    decide(waiting(questionnaire, hours=2), verdict)
    assert alarms.send_due() == 1


def test_what_is_settled_does_not_count(questionnaire):
    decide(waiting(questionnaire, hours=2), "approve")
    factories.make_assignment(questionnaire.hit, status="Approved")
    factories.make_assignment(questionnaire.hit, status="Rejected")
    factories.make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=None)
    assert alarms.send_due() == 0


def test_each_batch_has_its_own_mail(questionnaire):
    waiting(questionnaire, hours=2)
    waiting(factories.make_published(name="Main study"), hours=2)
    assert alarms.send_due() == 2
    assert sorted(subject.partition(":")[0] for subject in subjects()) == [
        "[Assent] Main study",
        "[Assent] Pilot",
    ]


def test_a_name_with_a_line_end_adds_no_header(questionnaire):
    Batch.objects.update(name="Pilot\nBcc: eve@example.org")
    waiting(questionnaire, hours=2)
    alarms.send_due()
    assert mail.outbox[0].message()["Bcc"] is None
    assert subjects()[0].startswith("[Assent] Pilot Bcc: eve@example.org: 1")


# -- Whom -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("email", "is_active", "named", "to"),
    [
        ("ada@example.org", True, ["lab@example.org"], ["ada@example.org", "lab@example.org"]),
        ("lab@example.org", True, ["lab@example.org"], ["lab@example.org"]),
        ("", True, ["lab@example.org"], ["lab@example.org"]),
        ("ada@example.org", False, [], []),
        ("ada@example.org", True, [], ["ada@example.org"]),
    ],
)
def test_the_maker_and_those_named_are_warned(settings, questionnaire, email, is_active, named, to):
    settings.ALARM_RECIPIENTS = named
    batch = questionnaire.batch
    batch.created_by = User.objects.create_user("ada", email=email, is_active=is_active)
    batch.created_by.groups.add(role_of("Researcher"))
    assert alarms.recipients(batch) == to


def test_without_anybody_to_warn_nothing_is_used_up(settings, questionnaire):
    waiting(questionnaire, hours=2)
    settings.ALARM_RECIPIENTS = []
    assert alarms.send_due() == 0
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    assert alarms.send_due() == 1


# -- Errors and appeals -----------------------------------------------------------------------------------------------


def test_an_error_is_mailed_about_once_it_has_stood_for_a_quarter_of_an_hour(questionnaire):
    Batch.objects.update(error="The balance is too low for A1WORKER.")
    assert alarms.send_due() == 0
    later(seen_at=timedelta(minutes=16))
    assert alarms.send_due() == 1
    assert alarms.send_due() == 0
    assert subjects() == ["[Assent] Pilot: The batch stands still"]
    assert f"https://assent.example.org/batches/{questionnaire.batch_id}/" in mail.outbox[0].body
    assert "A1WORKER" not in mail.outbox[0].body


def test_an_error_that_comes_back_is_mailed_about_again(questionnaire):
    for _ in range(2):
        Batch.objects.update(error="No balance.")
        alarms.send_due()
        later(seen_at=timedelta(minutes=16))
        assert alarms.send_due() == 1
        Batch.objects.update(error="")
        assert alarms.send_due() == 0


def test_an_appeal_is_mailed_about_after_a_day(questionnaire):
    appeal = appealed(questionnaire, text="Secret words.", hours_ago=23)
    assert alarms.send_due() == 0
    Appeal.objects.update(made_at=timezone.now() - 25 * HOUR)
    appealed(questionnaire, hours_ago=26)
    assert alarms.send_due() == 1
    assert alarms.send_due() == 0
    assert subjects() == ["[Assent] Pilot: 2 appeals without an answer"]
    assert "https://assent.example.org/appeals/open/" in mail.outbox[0].body
    assert "Secret words." not in mail.outbox[0].body
    assert appeal.code not in mail.outbox[0].body


def test_an_appeal_with_an_answer_is_none_to_mail_about(questionnaire):
    appealed(questionnaire, hours_ago=30)
    Appeal.objects.update(outcome="upheld", answer="So.", answered_at=timezone.now())
    assert alarms.send_due() == 0


# -- Once, and not lost -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError(), SMTPServerDisconnected("gone"), ValueError("no address")]
)
def test_what_could_not_be_sent_is_sent_later(questionnaire, error, caplog):
    waiting(questionnaire, hours=2)
    waiting(factories.make_published(), hours=2)
    with patch("django.core.mail.EmailMessage.send", side_effect=[error, 1]):
        assert alarms.send_due() == 1
    assert alarms.send_due() == 1
    assert alarms.send_due() == 0
    assert "another try follows" in caplog.text
    assert "lab@example.org" not in caplog.text


def test_what_a_process_took_and_never_sent_is_sent_by_another(questionnaire):
    waiting(questionnaire, hours=2)
    with (
        patch("django.core.mail.EmailMessage.send", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        alarms.send_due()
    assert alarms.send_due() == 0
    later(claimed_at=timedelta(minutes=11))
    assert alarms.send_due() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_processes_at_once_one_sends():
    questionnaire = factories.make_published(auto_approval_delay=24 * HOUR)
    for _ in range(5):
        waiting(questionnaire, hours=2)
    barrier, sent = threading.Barrier(2), []

    def sweep() -> None:
        try:
            barrier.wait()
            sent.append(alarms.send_due())
        finally:
            connection.close()

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sent) == [0, 1]
    assert len(mail.outbox) == 1


def test_the_sweep_sends_them(questionnaire, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    waiting(questionnaire, hours=2)
    with patch.object(sync.send_alarms, "delay", sync.send_alarms):
        sync.sweep()
    assert len(mail.outbox) == 1


class Postbox:
    """A mail server that takes everything, once it is not refusing any more."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, list[str], str]] = []
        self.is_full = False

    async def handle_DATA(self, server, session, envelope) -> str:
        if self.is_full:
            return "452 4.2.2 The mailbox is full"
        text = envelope.content.decode()
        self.letters.append((envelope.mail_from, envelope.rcpt_tos, text))
        return "250 OK"


def test_a_mail_server_is_spoken_to_and_tried_again(questionnaire, settings):
    postbox, port = Postbox(), free_port()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    waiting(questionnaire, hours=2)
    assert alarms.send_due() == 0  # nobody listens yet
    server = Controller(postbox, hostname="127.0.0.1", port=port)
    server.start()
    try:
        postbox.is_full = True
        assert alarms.send_due() == 0
        postbox.is_full = False
        assert (alarms.send_due(), alarms.send_due()) == (1, 0)
    finally:
        server.stop()
    ((sender, to, text),) = postbox.letters
    assert (sender, to) == ("assent@example.org", ["lab@example.org"])
    assert "Subject: [Assent] Pilot: 1 undecided assignment near the deadline" in text
