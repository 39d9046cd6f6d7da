"""Automatic metrics as plain Python: no Django, usable in a notebook.

from metrics import METRICS
METRICS["text_f1"].score("улица Глинки", ["Композитора Глинки"])   # 0.5
"""

from metrics.catalogue import METRICS
from metrics.inputs import PROFILES, MetricError, Profile
from metrics.registry import Metric, Score
from metrics.thesaurus import open_thesaurus

__all__ = ["METRICS", "PROFILES", "Metric", "MetricError", "Profile", "Score", "open_thesaurus"]
