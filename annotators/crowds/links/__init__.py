"""People who come by a personal link or from a panel."""
