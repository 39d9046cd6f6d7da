"""What whoever runs the server wants to know: who is alive, what waits, how late we are."""

from surveys.operating.checks import readiness
from surveys.operating.gauges import measure
from surveys.operating.heartbeats import BEAT, WORKER, Pulse, mark, pulse
from surveys.operating.queue import queue_depth

__all__ = ["BEAT", "WORKER", "Pulse", "mark", "measure", "pulse", "queue_depth", "readiness"]
