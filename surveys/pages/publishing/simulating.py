"""Simulated people are sent to a copy of a draft, or more of them to a batch that is theirs."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from surveys import sync
from surveys.enqueue import enqueue
from surveys.models.simulation import MOST_AT_ONCE
from surveys.pages.access import batch_for, researcher
from surveys.simulating import asking


class SimulateForm(forms.Form):
    n_people = forms.IntegerField(label="Simulated people", min_value=1, max_value=MOST_AT_ONCE, initial=12)


@require_POST
@researcher("surveys.publish_batch")
def simulate(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the worker send simulated people, and show the batch they work on."""
    batch = batch_for(request, pk)
    form = SimulateForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Send from 1 to {MOST_AT_ONCE} simulated people at a time.")
        return redirect(batch)
    try:
        simulation = asking.send(batch, n_people=form.cleaned_data["n_people"], by=request.user)
    except asking.CannotSimulate as error:
        messages.error(request, str(error))
        return redirect(batch)
    enqueue(sync.simulate, simulation.pk, simulation.turn)
    messages.success(request, "Simulated people are on their way. This page shows how far they are.")
    return redirect(simulation.batch)
