"""What is stored, for every survey type alike. A new type needs no new model."""

from surveys.models.access import AnnotationSlot, Invitation, Outcome, Panel, PanelCode, PanelVisit
from surveys.models.alarms import Alarm
from surveys.models.answers import (
    AnswerRevision,
    MarkedSpan,
    QuizAttempt,
    Rating,
    Response,
    is_skipped,
    skips,
)
from surveys.models.api import ApiRequest, ApiToken
from surveys.models.audit import AuditEntry
from surveys.models.batch import (
    Batch,
    Questionnaire,
    QuestionnaireItem,
    SlotOutput,
    create_token,
    default_review_policy,
    new_seed,
)
from surveys.models.consent import Consent, ConsentText
from surveys.models.drafts import ProtocolDraft, ProtocolDraftVersion
from surveys.models.kept import AwaitedReport, KeptReport
from surveys.models.people import PersonLabel
from surveys.models.problems import ProblemReport
from surveys.models.progress import Importing, Note, Publishing
from surveys.models.review import (
    Appeal,
    Decision,
    Inclusion,
    Replacement,
    does_not_count,
    is_accepted,
    is_held,
    is_held_by_hand,
    is_left_out,
    is_rejected,
    is_undecided,
    is_used,
)
from surveys.models.sharing import SharedResults
from surveys.models.simulation import Simulation
from surveys.models.study import (
    Item,
    MetricScore,
    Output,
    Picture,
    Protocol,
    ProtocolPicture,
    Survey,
    TaskAccuracy,
    definition_choices,
    new_code,
)
from surveys.models.team import Role, TeamInvitation, TeamRole
from surveys.models.webhooks import Delivery, Webhook

__all__ = [
    "Alarm",
    "AnnotationSlot",
    "AnswerRevision",
    "ApiRequest",
    "ApiToken",
    "Appeal",
    "AuditEntry",
    "AwaitedReport",
    "Batch",
    "Consent",
    "ConsentText",
    "Decision",
    "Delivery",
    "Importing",
    "Inclusion",
    "Invitation",
    "Item",
    "KeptReport",
    "MarkedSpan",
    "MetricScore",
    "Note",
    "Outcome",
    "Output",
    "Panel",
    "PanelCode",
    "PanelVisit",
    "PersonLabel",
    "Picture",
    "ProblemReport",
    "Protocol",
    "ProtocolDraft",
    "ProtocolDraftVersion",
    "ProtocolPicture",
    "Publishing",
    "Questionnaire",
    "QuestionnaireItem",
    "QuizAttempt",
    "Rating",
    "Replacement",
    "Response",
    "Role",
    "SharedResults",
    "Simulation",
    "SlotOutput",
    "Survey",
    "TaskAccuracy",
    "TeamInvitation",
    "TeamRole",
    "Webhook",
    "create_token",
    "default_review_policy",
    "definition_choices",
    "does_not_count",
    "is_accepted",
    "is_held",
    "is_held_by_hand",
    "is_left_out",
    "is_rejected",
    "is_skipped",
    "is_undecided",
    "is_used",
    "new_code",
    "new_seed",
    "skips",
]
