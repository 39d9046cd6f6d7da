"""The models every survey type shares. A new type needs no new model."""

from surveys.models.access import AnnotationSlot, Invitation, Panel, PanelVisit
from surveys.models.answers import AnswerRevision, QuizAttempt, Rating, Response, is_skipped
from surveys.models.batch import Batch, Questionnaire, QuestionnaireItem, default_review_policy, new_seed
from surveys.models.review import Decision, Replacement
from surveys.models.scores import MetricScore
from surveys.models.study import Item, Output, Picture, Survey, definition_choices, new_code

__all__ = [
    "AnnotationSlot",
    "AnswerRevision",
    "Batch",
    "Decision",
    "Invitation",
    "Item",
    "MetricScore",
    "Output",
    "Panel",
    "PanelVisit",
    "Picture",
    "Questionnaire",
    "QuestionnaireItem",
    "QuizAttempt",
    "Rating",
    "Replacement",
    "Response",
    "Survey",
    "default_review_policy",
    "definition_choices",
    "is_skipped",
    "new_code",
    "new_seed",
]
