"""Answers of any origin as tables of one shape."""
