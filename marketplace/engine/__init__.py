"""What becomes of HITs and assignments, as MTurk's developer guide has it; and what happens by itself in time."""
