"""Alarms, health, backups, purging, and the processes of a site."""
