"""Signing in of researchers: the password, a second factor, a university."""
