"""Draw docs/architecture.svg from the code: the rooms in the order of `.importlinter`, and who imports whom.

python docs/draw_architecture.py           writes the drawing
python docs/draw_architecture.py --check   fails where the drawing is not what the code says

A room's sentence is its package's docstring; an arrow is at least one import. A layered package is drawn as a column,
so every arrow leads down. Needs grimp, which comes with import-linter.
"""

import ast
import configparser
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
DRAWING = ROOT / "docs" / "architecture.svg"
PACKAGES = ("surveys", "annotators", "marketplace", "metrics", "statements", "config")
NO_ROOMS = {"urls", "admin", "templatetags", "constraints", "failpoints", "tasks", "clock", "ids", "refusals"}
WIDTH, ROW, GAP, TOP = 1320, 34, 8, 64
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1d2733 }
.title { font-size: 17px; font-weight: 600 } .name { font-weight: 600 } .quiet { fill: #5b6673; font-size: 12px }
.room { fill: #f4f6f8; stroke: #c5ccd4 } .arrow { fill: none; stroke: #5a7fa8; stroke-opacity: .45 }
.http { stroke: #a8662f; stroke-width: 2; stroke-dasharray: 5 4; fill: none }
"""


@dataclass(frozen=True, slots=True)
class Room:
    """One layer of a package: its name, its sentence, its modules, and where its box begins."""

    package: str
    name: str
    sentence: str
    left: float
    top: float
    width: float

    @property
    def middle(self) -> float:
        return self.top + ROW / 2


@dataclass(frozen=True, slots=True)
class Column:
    """One package: its rooms from the top floor down."""

    package: str
    left: float
    top: float
    width: float

    def rooms(self) -> list[Room]:
        names = [name for name in layers(self.package) if is_room(self.package, name)]
        return [
            Room(
                self.package,
                name,
                sentence(f"{self.package}.{name}"),
                self.left,
                self.top + 34 + n * (ROW + GAP),
                self.width,
            )
            for n, name in enumerate(names)
        ]


COLUMNS = (
    Column("surveys", 20, TOP, 560),
    Column("annotators", 740, TOP, 440),
    Column("marketplace", 740, TOP + 250, 440),
)


def layers(package: str) -> list[str]:
    """Return a package's rooms from the top floor down, as the contracts have them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    for section in contracts.values():
        if section.get("containers", "").split() == [package]:
            floors = section["layers"].replace(":", " ").replace("|", " ").replace("(", "").replace(")", "")
            return floors.split()
    return []


def is_room(package: str, name: str) -> bool:
    """Tell whether a layer is a room: of those that are mostly files, only a package that says what it is for."""
    return name not in NO_ROOMS or ((ROOT / package / name).is_dir() and bool(sentence(f"{package}.{name}")))


def sentence(module: str) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    path = ROOT.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return " ".join((ast.get_docstring(ast.parse(source.read_text())) or "").partition("\n\n")[0].split())


def imports(graph: grimp.ImportGraph) -> Counter[tuple[str, str]]:
    """Count imports between rooms: {("surveys.pages", "surveys.review"): 12}."""
    counted: Counter[tuple[str, str]] = Counter()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            ends = tuple(".".join(module.split(".")[:2]) for module in (importer, imported))
            if ends[0] != ends[1]:
                counted[ends[0], ends[1]] += 1
    return counted


def box(room: Room) -> str:
    x, y = room.left, room.top
    chars = int((room.width - 130) / 6)
    words = (
        room.sentence if len(room.sentence) <= chars else room.sentence[: chars - 1].rsplit(" ", 1)[0] + " …"
    )
    return (
        f'<rect class="room" x="{x}" y="{y}" width="{room.width}" height="{ROW}" rx="5"/>'
        f'<text class="name" x="{x + 12}" y="{y + 21}">{escape(room.name)}</text>'
        f'<text class="quiet" x="{x + 118}" y="{y + 21}">{escape(words)}</text>'
    )


def arc(above: Room, below: Room, *, n: int) -> str:
    """Draw an arrow down from one room to another on the right side of their column."""
    edge, bend = above.left + above.width, 18 + 0.26 * (below.top - above.top)
    return (
        f'<path class="arrow" stroke-width="{min(1 + n / 12, 5):.1f}" marker-end="url(#head)" '
        f'd="M{edge} {above.middle + 4} C{edge + bend:.0f} {above.middle + 4} {edge + bend:.0f} {below.middle - 4} '
        f'{edge + 5} {below.middle - 4}"/>'
    )


def arcs(rooms: Iterable[Room], counted: Counter[tuple[str, str]]) -> list[str]:
    rooms = list(rooms)
    return [
        arc(above, below, n=counted[f"{above.package}.{above.name}", f"{below.package}.{below.name}"])
        for n, above in enumerate(rooms)
        for below in rooms[n + 1 :]
        if counted[f"{above.package}.{above.name}", f"{below.package}.{below.name}"]
    ]


def heading(column: Column) -> str:
    return (
        f'<text class="title" x="{column.left}" y="{column.top + 6}">{column.package}/</text>'
        f'<text class="quiet" x="{column.left}" y="{column.top + 25}">{escape(sentence(column.package))}</text>'
    )


def wire(columns: Iterable[tuple[Column, list[Room]]]) -> str:
    """Draw the one way between us and any marketplace: HTTP, from the crowds to the API."""
    rooms = {f"{room.package}.{room.name}": room for _, found in columns for room in found}
    ours, theirs = rooms["annotators.crowds"], rooms.get("marketplace.api")
    if theirs is None:
        return ""
    edge = ours.left
    return (
        f'<path class="http" marker-end="url(#head)" d="M{edge} {ours.middle} C{edge - 46} {ours.middle} '
        f'{edge - 46} {theirs.middle} {edge - 4} {theirs.middle}"/>'
        f'<text class="quiet" x="{edge - 74}" y="{(ours.middle + theirs.middle) / 2:.0f}">HTTP</text>'
    )


def between(top: float) -> list[str]:
    """Say what is true between the packages: who imports whom, and that the marketplace is reached over HTTP only."""
    lines = [
        "config/ is wiring: settings, addresses, Celery; nobody imports it.",
        "surveys imports annotators and metrics (arithmetic, no Django). They import nothing of ours but statements.",
        "The marketplace does neither, and nobody imports it: it is reached over HTTP, as Amazon's was.",
        "statements/ compiles a query once for a process; it knows Django and nothing of ours.",
    ]
    return [
        f'<text class="quiet" x="20" y="{top + 18 * n}">{escape(line)}</text>' for n, line in enumerate(lines)
    ]


def draw() -> str:
    """Return the drawing as SVG text."""
    counted = imports(grimp.build_graph(*PACKAGES, cache_dir=None))
    columns = [(column, column.rooms()) for column in COLUMNS]
    bottom = max(room.top + ROW for _, rooms in columns for room in rooms) + 34
    parts = [heading(column) for column, _ in columns]
    parts += [arrow for _, rooms in columns for arrow in arcs(rooms, counted)]
    parts.append(wire(columns))
    parts += [box(room) for _, rooms in columns for room in rooms]
    parts += between(bottom)
    height = bottom + 56
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
            'aria-label="The rooms of Assent, and who imports whom: every arrow leads down.">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
            'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#5a7fa8"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>',
            '<text class="quiet" x="20" y="28">Every arrow leads down: a room imports only from rooms below it. '
            "Thicker: more imports.</text>",
            *parts,
            "</svg>\n",
        ]
    )


def main() -> int:
    """Write the drawing, or with --check compare it; 1 where it is stale."""
    drawing = draw()
    if "--check" in sys.argv[1:]:
        is_current = DRAWING.exists() and DRAWING.read_text() == drawing
        sys.stdout.write("" if is_current else "docs/architecture.svg is stale: run `make architecture`.\n")
        return 0 if is_current else 1
    DRAWING.write_text(drawing)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
