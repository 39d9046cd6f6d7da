"""The people, and the crowds they come from."""
