"""A file and its pictures become items: read, checked and shown before anything is written."""
