"""Pictures of instructions and worked examples, as a page names them."""

from base64 import b64encode

from django import template
from django.urls import reverse

from surveys.protocols.definition import is_drawing

register = template.Library()


@register.filter
def picture_address(picture: str) -> str:
    """Return where a picture is: a drawing in a `data:` address, where it runs nothing, a file under its code."""
    if is_drawing(picture):
        return f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}"
    return reverse("type_picture", args=[picture])
