"""Every cent: the double entry, bonuses, statements, and whether all of it agrees."""
