"""The research: surveys, batches, ratings and scores."""
