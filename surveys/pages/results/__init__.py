"""Scores, comparisons, downloads, the dry run of a policy."""
