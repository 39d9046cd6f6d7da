"""A batch becomes HITs and places, and what it may cost."""
