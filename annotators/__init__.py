"""The people and their work, in MTurk's words."""
