"""What is asked of a crowd, in its own words."""
