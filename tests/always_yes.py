"""What simulated people can know of items whose right answer is always "yes": those of crash and load tests."""

from surveys.simulating.views import ItemView


class AlwaysYes:
    """Stands where a rehearsal has the file of its items."""

    def right_answer(self, item: ItemView) -> str:
        return "yes" if item.answer else ""

    def whole_key(self, item: ItemView) -> str:
        return item.key
