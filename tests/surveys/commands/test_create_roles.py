"""Roles: least privilege, and put back to it."""

import io

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def permissions_of(role: str) -> set[str]:
    rows = Group.objects.get(name=role).permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in rows}


@pytest.fixture(autouse=True)
def roles() -> None:
    call_command("create_roles", stdout=io.StringIO())


def test_assistants_review_and_nothing_more():
    given = permissions_of("Assistant")
    assert {name for name in given if ".view_" not in name} == {"annotators.change_assignment"}
    assert "annotators.view_call" not in given


def test_researchers_launch_and_download():
    more = permissions_of("Researcher") - permissions_of("Assistant")
    assert {"surveys.publish_batch", "surveys.export_raw", "surveys.add_batch", "surveys.add_item"} <= more


def test_no_role_manages_people_or_the_marketplaces_money():
    assert {name.split(".")[0] for name in permissions_of("Assistant")} == {"surveys", "annotators"}
    given = permissions_of("Researcher")
    assert {name.split(".")[0] for name in given} == {"surveys", "annotators", "marketplace"}
    assert {name for name in given if name.startswith("marketplace.") and ".view_" not in name} == {
        "marketplace.add_accesskey",
        "marketplace.change_accesskey",
        "marketplace.add_templatebatch",
    }


def test_a_second_run_puts_permissions_back():
    before = permissions_of("Assistant")
    Group.objects.get(name="Assistant").permissions.set(Permission.objects.filter(codename="export_raw"))
    call_command("create_roles", stdout=io.StringIO())
    assert permissions_of("Assistant") == before
    assert Group.objects.count() == 3
