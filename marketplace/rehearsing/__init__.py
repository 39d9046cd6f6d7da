"""For rehearsals and tests: clock, workers, faults, bots, logs. Closed unless MARKETPLACE_CONTROL_TOKEN is set."""
