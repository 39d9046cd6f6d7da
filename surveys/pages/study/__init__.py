"""Importing items; a survey and its team."""
