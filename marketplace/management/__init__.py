"""What is done from a shell."""
