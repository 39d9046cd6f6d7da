"""Question documents and the answers to them, in MTurk's formats."""
