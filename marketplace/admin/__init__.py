"""The marketplace's back office. Researchers see the requester accounts they are named in; administrators see all."""

from marketplace.admin import accounts, batches, invitations, work

__all__ = ["accounts", "batches", "invitations", "work"]
