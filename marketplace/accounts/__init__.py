"""Who comes in and how: access keys, access codes, invitations, sessions; and who may reach whom."""
