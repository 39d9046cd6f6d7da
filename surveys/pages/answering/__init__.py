"""What annotators see: a HIT in a frame, work by link, the quiz."""
