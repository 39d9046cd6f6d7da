"""Calls that are made at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection

from marketplace.refusals import Refusal, WorkerRefusal


def at_once(calls):
    """Run the calls in as many threads at the same moment; return their results, refusals included."""
    barrier = Barrier(len(calls))

    def run(call):
        try:
            barrier.wait(timeout=20)
            return call()
        except (Refusal, WorkerRefusal) as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
