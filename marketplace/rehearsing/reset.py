"""Forgetting what happened on the market: accounts, keys and deposits stay, everything else goes."""

from collections import deque
from graphlib import TopologicalSorter

from django.apps import apps
from django.db import transaction
from django.db.models import ForeignKey, Model, Q, QuerySet

from marketplace.models import AccessKey, Balance, Entry, Requester

KEPT: frozenset[type[Model]] = frozenset({Requester, AccessKey})
Path = str


@transaction.atomic
def requester(owner: Requester) -> int:
    """Delete the HITs of one requester and all that hangs on them; return the number of rows."""
    doomed = [_rows(model).filter(**{path: owner}) for model, path in _owned().items()]
    return sum(rows.delete()[0] for rows in doomed)


@transaction.atomic
def everything() -> int:
    """Delete everybody's, the workers, planned faults and the moved clock too; return the number of rows."""
    return sum(_rows(model).delete()[0] for model in _children_first() if model not in KEPT)


def _rows(model: type[Model]) -> QuerySet[Model]:
    """Return the rows that may go: of the entries all but deposits."""
    rows = model._default_manager.all()
    return rows.exclude(Q(source=Entry.Account.OUTSIDE)) if model is Entry else rows


def _owned() -> dict[type[Model], Path]:
    """Return the models whose rows belong to a requester, children first, each with the way to it."""
    ways = {model: _way(model) for model in _children_first() if model not in KEPT}
    return {model: way for model, way in ways.items() if way is not None}


def _children_first() -> list[type[Model]]:
    """Return the marketplace's models so that none comes before another that points to it."""
    models = set(apps.get_app_config(Balance._meta.app_label).get_models())
    pointing = {model: {child for child in models if model in _parents(child).values()} for model in models}
    return list(TopologicalSorter(pointing).static_order())


def _parents(model: type[Model]) -> dict[str, type[Model]]:
    fields = [field for field in model._meta.get_fields() if isinstance(field, ForeignKey)]
    return {field.name: field.related_model for field in fields if field.related_model is not model}


def _way(model: type[Model]) -> Path | None:
    """Return the shortest lookup from a model to its requester, None where there is none."""
    waiting = deque([(model, "")])
    while waiting:
        here, way = waiting.popleft()
        for name, parent in _parents(here).items():
            if parent is Requester:
                return f"{way}{name}"
            waiting.append((parent, f"{way}{name}__"))
    return None
