"""One HIT of each study, and personal links, served from an empty database until standard input closes.

Studies are those of the demo, three templates, and one whose items are Arabic.

It runs in the checkout that is its working folder, with that checkout's code; `report.py` starts it and reads the
addresses it prints as one line of JSON. Pictures are photographs as large as VQA-X's, drawn here, so that bytes and
times are those of a study and not of our small drawings.
"""

import csv
import json
import os
import random
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path.cwd()
sys.path.insert(0, str(ROOT))

import django  # noqa: E402 (after the path)

DEMO = ROOT / "fixtures" / "demo"
SIZE = 640, 480
STUDIES = {
    "evil": ("evil-vqax", "items.csv"),
    "xai": ("xai", "xai/items.csv"),
    "vtt": ("vtt", "vtt/items.jsonl"),
}
TEMPLATES = "pairwise", "ranking", "translation"
ARABIC = {
    "label": "إبريق شاي",
    "explanation": "جسم أزرق له قاعدة مسطحة، ومقبض منحنٍ على اليمين، وبخار يتصاعد من أعلاه فوق شراب داكن.",
}


def photograph(seed: str) -> bytes:
    """Return a JPEG of about 70 kB: soft shapes with some grain."""
    from io import BytesIO

    from PIL import Image, ImageDraw, ImageFilter

    drawn = random.Random(seed)
    image = Image.new("RGB", SIZE, tuple(drawn.randrange(256) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    for _ in range(60):
        x, y, r = drawn.randrange(SIZE[0]), drawn.randrange(SIZE[1]), drawn.randrange(10, 120)
        pen.ellipse((x - r, y - r, x + r, y + r), fill=tuple(drawn.randrange(256) for _ in range(3)))
    grain = Image.effect_noise(SIZE, 48).convert("RGB")
    out = BytesIO()
    Image.blend(image.filter(ImageFilter.GaussianBlur(3)), grain, 0.25).save(out, "JPEG", quality=82)
    return out.getvalue()


def with_photographs(items: Path, folder: Path) -> Path:
    """Copy a demo study with a photograph in the place of each drawing; return its items."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    for drawing in (items.parent / "pictures").glob("*.svg"):
        (pictures / f"{drawing.stem}.jpg").write_bytes(photograph(drawing.stem))
    copy = folder / items.name
    copy.write_text(items.read_text().replace(".svg", ".jpg"))
    return copy


def in_arabic(items: Path) -> Path:
    """Write the XAI study's items in Arabic beside them."""
    with items.open(newline="") as file:
        rows = [row | ARABIC for row in csv.DictReader(file)]
    copy = items.with_name("arabic.csv")
    with copy.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return copy


def others(folder: Path) -> dict[str, tuple[str, str, Path]]:
    """Return {study: (protocol, its document, items)} of what is not built in; none in a commit without templates."""
    try:
        from surveys.protocols.templates import templates
    except ImportError:
        return {}
    found = {}
    for key in TEMPLATES:
        items = folder / f"{key}.csv"
        items.write_text(templates()[key].items)
        found[key] = key, templates()[key].document, items
    document = (ROOT / "surveys/protocols/builtin/xai.yaml").read_text()
    for ours in ("protocol: xai", 'name: "XAI', "title: Rate explanations"):
        document = document.replace(ours, f"{ours}-arabic")
    return found | {"arabic": ("xai-arabic", document, in_arabic(folder / "xai" / "items.csv"))}


def material(protocol: str, items: Path, document: str = ""):
    from surveys.protocols.registry import get_definition
    from surveys.rehearsal.study import Material

    folder = items.parent / "pictures"
    pictures = str(folder) if folder.exists() else ""
    if not document:
        return Material(get_definition(protocol), items, pictures)
    from surveys.protocols.uploads import read
    from surveys.studies.packages import Package

    package = Package(f"{protocol}.yaml", document.encode())
    return Material(read(document, name=package.name), items, pictures, package=package)


def drafted(protocol: str, items: Path, *, document: str = "", seed: int = 1, **terms: object):
    from surveys.models import Survey
    from surveys.publishing.questionnaires import start_publishing
    from surveys.rehearsal.study import draft_batch, import_material

    survey = Survey.objects.filter(slug=protocol).first() or import_material(
        material(protocol, items, document)
    )
    batch = draft_batch(survey, seed=seed, **terms)
    batch.uses_quiz = False
    batch.save()
    start_publishing(batch)
    return batch


def offered(batch) -> dict[str, str]:
    """Offer a batch's first HIT in the marketplace; return its address there, and that of its frame."""
    from django.conf import settings
    from django.utils import timezone

    from annotators.crowds.mturk.questions import external_question
    from annotators.models import HIT, HITType
    from marketplace.engine import hits
    from marketplace.models import Requester

    now, hour, days = timezone.now(), 3600, timedelta(days=1)
    questionnaire = batch.questionnaires.first()
    address = f"{settings.APP_URL}{questionnaire.get_absolute_url()}"
    values = hits.TypeValues(
        title=batch.title, description=batch.description, keywords="", reward_cents=38, duration_seconds=hour,
        auto_approval_seconds=3 * 24 * hour, requirements=[],
    )  # fmt: skip
    kind = hits.hit_type_for(Requester.objects.get(), values=values, now=now)
    offer = hits.Offer(question=external_question(address), max_assignments=100, lifetime=days)
    hit = hits.publish(kind, offer=offer, now=now)
    ours = HITType.objects.create(
        endpoint=batch.endpoint, hit_type_id=kind.type_id, title=batch.title, reward=batch.reward,
        assignment_duration=timedelta(hours=1), auto_approval_delay=3 * days,
    )  # fmt: skip
    questionnaire.hit = HIT.objects.create(
        hit_type=ours, hit_id=hit.hit_id, max_assignments=1000, created_at=now, expires_at=now + days
    )
    questionnaire.save()
    claims = {"hitId": hit.hit_id, "turkSubmitTo": settings.MARKETPLACE_URL}
    return {
        "frame": f"{address}?{urlencode(claims)}",
        "offer": f"{settings.MARKETPLACE_URL}/projects/{kind.type_id}/tasks",
    }


def links(items: Path, n: int) -> list[str]:
    """Open an e-ViL batch by link to n people; return each one's address."""
    from surveys.publishing import hits
    from surveys.rehearsal.study import invite

    batch = drafted("evil-vqax", items, seed=2, by_link=True)
    hits.publish_here(batch)
    return list(invite(batch, names=[f"P{n}" for n in range(n)]).values())


def worker() -> dict[str, str]:
    """Open an account at the marketplace."""
    from django.conf import settings

    from marketplace.accounts import keys

    worker, code = keys.seeded_worker(seed=1, number=1)
    return {"sign_in": f"{settings.MARKETPLACE_URL}/sign-in", "worker_id": worker.worker_id, "code": code}


def main() -> None:
    from surveys.rehearsal.stage import environment

    with tempfile.TemporaryDirectory(prefix="assent-annotator-") as name:
        folder = Path(name)
        os.environ.update(environment(folder / "data", seed=0))
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        (folder / "data").mkdir()
        django.setup()
        from django.conf import settings
        from django.core.management import call_command

        from surveys.operations.processes.stack import web
        from surveys.operations.processes.supervisor import Supervisor

        call_command("migrate", verbosity=0)
        call_command("loaddata", "marketplace_demo", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        items = {key: with_photographs(DEMO / path, folder / key) for key, (_, path) in STUDIES.items()}
        addresses: dict[str, object] = {
            key: offered(drafted(protocol, items[key])) for key, (protocol, _) in STUDIES.items()
        }
        for key, (protocol, document, file) in others(folder).items():
            addresses[key] = offered(drafted(protocol, file, document=document))
        addresses["worker"] = worker()
        addresses["links"] = links(items["evil"], 40)
        port = int(settings.APP_URL.rsplit(":", 1)[1])
        with Supervisor([web(port=port, environment={})], log_dir=folder / "logs"):
            print(json.dumps(addresses), flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
