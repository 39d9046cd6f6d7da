"""How the fields of a batch are laid out in the admin site: of a draft, and of one that is published."""

from typing import Any

from surveys.pages.publishing.policy_form import rows_for
from surveys.protocols.definition import Definition

FROZEN = (
    "survey",
    "endpoint",
    "takes_links",
    "title",
    "description",
    "keywords",
    "items_per_hit",
    "assignments_per_hit",
    "reward",
    "budget",
    "uses_quiz",
    "time_allowed",
    "findable_for",
    "approved_after",
    "review",
    "rejects_automatically",
    "replaces_auto_approved",
    "seed",
    "status",
    "published_at",
)
PUBLISHED_FIELDSETS = (
    (None, {"fields": ["name", "assumed_minutes"]}),
    ("As published", {"fields": list(FROZEN)}),
)
REVIEW_NOTE = (
    "Rules notice; a person decides. Workers read the rules before they begin. On an open batch they can be tried "
    "out on what came in, and changed, on the page “Review policy”."
)
RULES_NOTE = (
    "For “By the rules below”. Any one asks for a person to look; several together propose a rejection."
)


def draft_fieldsets(definition: Definition | None) -> tuple[tuple[str | None, dict[str, Any]], ...]:
    """Return the fieldsets of a draft, with the rules that make sense for the survey type, if it is known."""
    terms = ["items_per_hit", "assignments_per_hit", "reward", "assumed_minutes", "budget", "uses_quiz"]
    decisions = ["policy_kind", "cap_percent", "rejects_automatically", "replaces_auto_approved"]
    return (
        (None, {"fields": ["survey", "name", "endpoint", "takes_links"]}),
        ("What workers get", {"fields": terms}),
        ("Time", {"fields": ["assignment_duration", "lifetime", "auto_approval_delay"]}),
        ("Review", {"fields": decisions, "description": REVIEW_NOTE}),
        ("Rules", {"fields": [*rows_for(definition), "reject_at"], "description": RULES_NOTE}),
        ("What workers read in the list of HITs", {"fields": ["title", "description", "keywords"]}),
        ("Chance", {"fields": ["seed"], "classes": ["collapse"]}),
    )
