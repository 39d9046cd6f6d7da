"""A whole study with simulated workers, over HTTP, on a server of its own. The outermost layer, like commands."""
