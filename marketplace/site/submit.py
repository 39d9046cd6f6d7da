"""externalSubmit: the form a task posts from inside its frame, so without cookies and from another site."""

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from marketplace import clock
from marketplace.engine import assignments, deadlines
from marketplace.models import Assignment
from marketplace.questions import answer_documents, documents, hit_questions
from marketplace.refusals import WorkerRefusal


@csrf_exempt
@xframe_options_sameorigin
@require_http_methods(["GET", "HEAD", "POST"])
def external_submit(request: HttpRequest) -> HttpResponse:
    """Record the fields of an open assignment, or say in the frame why they were not recorded."""
    try:
        if request.method == "HEAD":
            raise WorkerRefusal("A HEAD request submits nothing.")
        assignment = _record(_form(request))
    except WorkerRefusal as refusal:
        return render(request, "marketplace/site/frame_refused.html", {"reason": str(refusal)}, status=400)
    return render(request, "marketplace/site/frame_submitted.html", {"assignment": assignment})


def _form(request: HttpRequest) -> dict[str, list[str]]:
    try:
        return dict([*request.GET.lists(), *request.POST.lists()])
    except (RequestDataTooBig, TooManyFieldsSent) as error:
        raise WorkerRefusal("The answers are too large to be recorded.") from error
    except UnreadablePostError as error:
        raise WorkerRefusal("The connection ended before the answers had arrived.") from error


def _record(form: dict[str, list[str]]) -> Assignment:
    now = clock.now()
    deadlines.sweep(now=now)
    assignment = _open_assignment(form)
    fields = answer_documents.fields_of(form.items())
    if not fields:
        raise WorkerRefusal("The task sent no answer besides the assignment's own number.")
    assignments.submit(assignment, answer=answer_documents.document(fields), now=now)
    return assignment


def _open_assignment(form: dict[str, list[str]]) -> Assignment:
    assignment_id = form.get("assignmentId", [""])[0]
    if assignment_id in {"", hit_questions.PREVIEW_ID}:
        raise WorkerRefusal("This was a preview. Accept the HIT before you submit it.")
    rows = Assignment.objects.filter(
        assignment_id=documents.legal(assignment_id), status=Assignment.Status.OPEN
    )
    assignment = rows.select_related("worker", "hit").first()
    if assignment is None:
        raise WorkerRefusal(
            "This assignment is not open. It was submitted already, returned, or its time ran out."
        )
    if form.get("workerId", [""])[0] not in {"", assignment.worker.worker_id}:
        raise WorkerRefusal("This assignment now belongs to another worker.")
    if hit_questions.is_form(assignment.hit.question):
        raise WorkerRefusal("This HIT is answered on its own page, where the answers are checked.")
    return assignment
