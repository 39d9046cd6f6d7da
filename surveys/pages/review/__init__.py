"""Submitted work: decisions, bonuses, appeals, the trail."""
