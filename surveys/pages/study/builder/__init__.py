"""The builder: a survey type as a form, its page beside it, both of one document."""
