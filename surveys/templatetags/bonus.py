"""The bonuses of an assignment, as a part of its page."""

from typing import Any

from django import template

from annotators.models import Assignment
from surveys import bonuses
from surveys.forms.bonus import BonusForm

register = template.Library()


@register.inclusion_tag("researcher/bonus.html", takes_context=True)
def bonus_section(context: dict[str, Any], assignment: Assignment) -> dict[str, Any]:
    """Show the bonuses given for an assignment, and to who may decide about it the form for one more."""
    may_give = context["request"].user.has_perms(["surveys.publish_batch", "annotators.change_assignment"])
    problem = bonuses.why_not(assignment)
    return {
        "assignment": assignment,
        "batch": context["batch"],
        "given": bonuses.given(assignment),
        "problem": problem,
        "form": BonusForm() if may_give and not problem else None,
    }
