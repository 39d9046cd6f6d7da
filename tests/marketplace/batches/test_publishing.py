"""A batch becomes HITs: all of them with their money, or none."""

import pytest
from django.utils import timezone

from marketplace.batches import publishing, tables
from marketplace.models import HIT, Entry, HITType, TemplateBatch
from marketplace.money import audit, ledger
from marketplace.questions import hit_questions
from marketplace.refusals import Refusal
from marketplace.rehearsing import reset
from tests.marketplace.batches.batches_made import TABLE, draft, hits, published


def test_every_row_is_a_hit_of_one_type(requester):
    batch = published(requester)
    first, second = hits(batch)
    assert first.hit_type == second.hit_type == batch.hit_type
    assert hit_questions.parse(first.question).html == (
        '<crowd-form><p>Who, and where?</p><img src="1.jpg" alt=""><input name="answer"></crowd-form>'
    )
    assert "<p>&lt;b&gt;Why?&lt;/b&gt;</p>" in hit_questions.parse(second.question).html
    assert (first.max_assignments, first.free, second.held_slots) == (5, 5, 5)
    assert first.annotation == f"BatchId:{batch.pk};OriginalHitTemplateId:{batch.pk};"


def test_the_money_of_all_is_held(requester):
    published(requester)
    balance = ledger.balance_of(requester)
    assert (balance.available_cents, balance.held_cents) == (100_000 - 2 * 5 * 46, 2 * 5 * 46)
    assert audit.report()["is_sound"] is True


def test_without_the_money_nothing_is_written(requester):
    batch = draft(requester, reward_cents=10_000)
    with pytest.raises(Refusal) as refused:
        publishing.publish(batch, now=timezone.now())
    assert refused.value.code == "InsufficientFunds"
    assert (HIT.objects.count(), HITType.objects.count(), Entry.objects.count()) == (0, 0, 1)
    assert TemplateBatch.objects.get().published_at is None


def test_a_batch_is_published_once(requester):
    batch = published(requester)
    with pytest.raises(publishing.AlreadyPublished):
        publishing.publish(batch, now=timezone.now())
    assert HIT.objects.count() == 2


def test_the_price_is_what_is_held(requester):
    batch = draft(requester, max_assignments=10)
    price = publishing.price(batch, hits=2)
    assert (price.assignments, price.reward_cents, price.fee_cents) == (20, 760, 300)
    publishing.publish(batch, now=timezone.now())
    assert ledger.balance_of(requester).held_cents == price.total_cents


def test_a_template_used_again_keeps_its_number(requester):
    first, second, other = (published(requester, template=text) for text in ("<p>a", "<p>a", "<p>b"))
    numbers = [hits(batch)[0].annotation.partition("TemplateId:")[2] for batch in (first, second, other)]
    assert numbers == [f"{first.pk};", f"{first.pk};", f"{other.pk};"]


def test_a_template_without_a_form_gets_mturks(requester):
    batch = draft(requester, template="<html><body class='x'><p>${question}</p></body></html>")
    page = publishing.page(batch, ["1.jpg", "Who?"])
    assert page.startswith('<html><body class=\'x\'><form name="mturk_form" id="mturk_form" method="post"')
    assert page.endswith('value="Submit"></p></form></body></html>')


def test_the_end_of_a_cdata_section_in_a_value_is_kept(requester):
    batch = published(requester, table=b"picture,question\n1,]]>\n", values_are_html=True)
    assert "<p>]]></p>" in hit_questions.parse(hits(batch)[0].question).html


def problems(requester, template, table=TABLE, **options):
    read = tables.read(table)
    batch = TemplateBatch(requester=requester, template=template, columns=read.columns, frame_height=0)
    return publishing.problems(batch, read.rows, **{"may_be_empty": False, **options})


def test_a_missing_column_is_named_with_its_line(requester):
    found = problems(requester, "<form>\n${question}\n${answer}")
    assert found == ["The template asks for ${answer} on line 3; the file has no such column."]


def test_an_empty_cell_is_named_by_row_and_column(requester):
    table = b"picture,question,unused\n1.jpg,Who?,\n2.jpg, ,\n"
    assert problems(requester, "<form>${question}", table) == ["Row 2, column “question”, is empty."]
    assert problems(requester, "<form>${question}", table, may_be_empty=True) == []


def test_a_page_that_is_too_long_is_named_by_its_row(requester):
    found = problems(requester, "<form>${question}" + "x" * 65_300, b"question\nok\n" + b"y" * 200 + b"\n")
    assert found == ["Row 2 makes a page of 65,703 bytes; a HIT takes 65,535."]


def test_a_control_character_in_the_template_is_refused(requester):
    assert problems(requester, "<form>\x07") == ["The template holds a control character."]


def test_a_thousand_rows_take_few_queries(requester, django_assert_max_num_queries):
    table = b"picture,question\n" + b"1.jpg,Who?\n" * 1000
    batch = draft(requester, table=table, max_assignments=1)
    with django_assert_max_num_queries(50):
        publishing.publish(batch, now=timezone.now())
    assert HIT.objects.count() == 1000
    assert audit.report()["is_sound"] is True


def test_a_reset_of_the_requester_takes_batches_along(requester):
    published(requester)
    draft(requester)
    reset.requester(requester)
    assert (TemplateBatch.objects.count(), HIT.objects.count()) == (0, 0)
