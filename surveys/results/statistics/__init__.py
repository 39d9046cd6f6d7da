"""Means, intervals, comparisons, agreement."""
