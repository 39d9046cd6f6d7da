"""Workers, invitations and panels."""
