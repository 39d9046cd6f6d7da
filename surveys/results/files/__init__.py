"""The files researchers download."""
