"""The marketplace on a live server, and a HIT on it."""

import pytest

from annotators.models import HIT, HITType
from annotators.outbox import market
from tests.annotators.crowds.offers import TERMS, offer
from tests.market_site import Site, in_parallel, site, wire

__all__ = ["in_parallel", "site", "wire"]


@pytest.fixture
def hit_type(site: Site) -> HITType:
    return market.offer_hit_type(TERMS, gateway=site.gateway)


@pytest.fixture
def hit(site: Site, hit_type: HITType) -> HIT:
    found = offer(site, hit_type).hit
    assert found is not None
    return found
