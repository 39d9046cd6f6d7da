"""Simulated people: who they are, what they answer, and how they fill a batch that is marked as theirs."""
