"""Retention: worker identifiers are erased after a date; answers, decisions and names in files stay as they were.

A purged worker is called "purged:" and their pseudonym (see `annotators.workers`). What is erased with the id: user
agents, names, e-mail addresses and links of invitations, a panel's study and session, the marketplace's copy of
answers we have, drafts that were never handed in, and the id wherever it stands in a text about the worker. Comments
may name people in other ways and go only when asked for. Appeals stay: a decision about somebody's pay stands on them.

AssignmentIds stay: they name the work, and only the requester's own account can ask MTurk whose it was, for as long
as MTurk keeps the HIT.
"""

from surveys.purging.carrying_out import CHUNK, Report, purge
from surveys.purging.due import Kept, due

__all__ = ["CHUNK", "Kept", "Report", "due", "purge"]
