"""Who a worker is, also after their id is purged."""
