"""One archive of the whole installation: made, and opened again."""
