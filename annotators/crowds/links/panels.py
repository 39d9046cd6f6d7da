"""Panels whose addresses are known: what they add to ours, and where their people go when they are done.

Sources: Prolific, "Setting up your study link" (PROLIFIC_PID, STUDY_ID, SESSION_ID, which is the submission) and
"Completion codes" (app.prolific.com/submissions/complete?cc=); CloudResearch, "Connect: how to set up a project"
(participantId, projectId and assignmentId are added to the address; connect.cloudresearch.com/participant/project/).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotators.crowds.links.addresses import ParameterNames


@dataclass(frozen=True, slots=True)
class KnownPanel:
    """`placeholders` stand in the address we give: {our word for it: what it fills in}; empty where it adds all itself.

    `code_types` is how it calls the outcomes where its page asks for one.
    """

    label: str
    names: ParameterNames
    completion_url: str
    placeholders: Mapping[str, str] = field(default_factory=dict)
    code_types: Mapping[str, str] = field(default_factory=dict)


PROLIFIC = KnownPanel(
    label="Prolific",
    names=ParameterNames(),
    completion_url="https://app.prolific.com/submissions/complete?cc={code}",
    placeholders={
        "worker": "{{%PROLIFIC_PID%}}",
        "study": "{{%STUDY_ID%}}",
        "session": "{{%SESSION_ID%}}",
    },
    code_types={
        "completed": "COMPLETED",
        "checks_failed": "FAILED_ATTENTION_CHECK",
        "nothing_left": "OTHER",
        "no_consent": "NO_CONSENT",
    },
)
CONNECT = KnownPanel(
    label="CloudResearch Connect",
    names=ParameterNames(worker="participantId", study="projectId", session="assignmentId"),
    completion_url="https://connect.cloudresearch.com/participant/project/{code}/complete",
)
PANELS: Mapping[str, KnownPanel] = {"prolific": PROLIFIC, "connect": CONNECT}
