"""Events that requesters want to hear of: kept as they happen, told until they arrive."""
