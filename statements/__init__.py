"""Queries that a process words once and PostgreSQL plans once for a connection; both take longer than to run them."""

from statements.compiled import ByHand, Change, Statement, Together
from statements.holes import Hole, Moment
from statements.inserts import insert, insert_if, insert_new, insert_values

__all__ = [
    "ByHand",
    "Change",
    "Hole",
    "Moment",
    "Statement",
    "Together",
    "insert",
    "insert_if",
    "insert_new",
    "insert_values",
]
