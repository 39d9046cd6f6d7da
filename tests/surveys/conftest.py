"""The marketplace on a live server, for tests that need it."""

from tests.market_site import in_parallel, site, wire

__all__ = ["in_parallel", "site", "wire"]
