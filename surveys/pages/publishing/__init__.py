"""A batch: its terms, its price, its course."""
