"""The built-in survey types by their short names."""

from surveys.protocols.registry import get_definition

VQAX, ESNLIVE, VCR, XAI, VTT = map(get_definition, ("evil-vqax", "evil-esnlive", "evil-vcr", "xai", "vtt"))
