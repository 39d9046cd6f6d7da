"""The REST API: what the pages do, for scripts."""
