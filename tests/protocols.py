"""The built-in survey types by their short names, and one with a checklist that has an explicit None."""

from dataclasses import replace

from surveys.protocols.criteria import Choice
from surveys.protocols.registry import get_definition

VQAX, ESNLIVE, VCR, XAI, VTT = map(get_definition, ("evil-vqax", "evil-esnlive", "evil-vcr", "xai", "vtt"))
FLAWS = VQAX.criterion("shortcomings")
NONE_FLAWS = replace(
    FLAWS, choices=(*FLAWS.choices, Choice("none", "None")), exclusive="none", is_optional=False
)
WITH_NONE = replace(VQAX, key="with-none", criteria=(VQAX.criterion("justifies"), NONE_FLAWS))
