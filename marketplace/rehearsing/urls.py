"""Addresses of the control API."""

from django.urls import path

from marketplace.rehearsing import actions
from marketplace.rehearsing.gate import control

urlpatterns = [
    path("advance", control(POST=actions.advance), name="control-advance"),
    path("workers", control(POST=actions.workers), name="control-workers"),
    path("ledger", control(GET=actions.ledger), name="control-ledger"),
    path(
        "faults",
        control(GET=actions.list_faults, POST=actions.plan_fault, DELETE=actions.clear_faults),
        name="control-faults",
    ),
    path("calls", control(GET=actions.calls), name="control-calls"),
    path("bots", control(POST=actions.play), name="control-bots"),
    path("reset", control(POST=actions.start_over), name="control-reset"),
]
