"""The worker site."""
