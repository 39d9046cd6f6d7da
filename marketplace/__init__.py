"""An MTurk of our own: its wire protocol, its engine, its money, its worker site."""
