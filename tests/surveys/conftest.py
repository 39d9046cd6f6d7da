"""The marketplace on a live server, for tests that need it."""

from tests.market_site import eager, in_parallel, site, wire

__all__ = ["eager", "in_parallel", "site", "wire"]
