"""Submissions to the FusionBrain Challenge 2.0: its files in, its sub-tasks and integral score out."""

from metrics.competition.scoreboard import Scoreboard, check_known
from metrics.competition.scoring import Options, score_files
from metrics.competition.tables import as_json, as_text

__all__ = ["Options", "Scoreboard", "as_json", "as_text", "check_known", "score_files"]
