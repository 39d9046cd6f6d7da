"""Frames become statistics, tables, figures and files."""
