"""The research: one study from its items to its numbers."""
