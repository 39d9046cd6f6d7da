"""An MTurk of our own: wire protocol, state engine, ledger and worker site. Imports nothing of ours."""
