"""docs/marketplace.md, "Moving a boto3 project here", done line by line with a program that knows nothing of us."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from marketplace.models import HITType

PROGRAM = """
import sys
import boto3

mturk = boto3.client("mturk")
if "publish" in sys.argv:
    hit = mturk.create_hit(
        Title="Label a picture", Description="One question.", Reward="0.10", AssignmentDurationInSeconds=600,
        LifetimeInSeconds=3600, MaxAssignments=1, Question=open("question.xml").read(),
    )["HIT"]
    print(hit["HITId"], hit["HITStatus"])
else:
    for hit in mturk.list_reviewable_hits()["HITs"]:
        for work in mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]:
            mturk.approve_assignment(AssignmentId=work["AssignmentId"], RequesterFeedback="Thanks.")
            print(work["WorkerId"], work["Answer"].count("<Answer>"), mturk.get_account_balance()["AvailableBalance"])
"""
QUESTION = """<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/\
ExternalQuestion.xsd"><ExternalURL>https://lab.example/label?a=1&amp;b=2</ExternalURL><FrameHeight>600</FrameHeight>\
</ExternalQuestion>"""


@pytest.fixture
def steps(pytestconfig):
    """The lines of the document's first block."""
    text = (pytestconfig.rootpath / "docs/marketplace.md").read_text()
    section = text.partition("## Moving a boto3 project here")[2]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1].splitlines()


@pytest.fixture
def shell(tmp_path, live_server):
    """A function that runs the lines in a shell that knows no other AWS settings."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "python").symlink_to(sys.executable)
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"

    def shell(lines):
        script = "\n".join(lines).replace(
            "http://localhost:8000", f"http://localhost:{live_server.thread.port}"
        )
        environment = {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    return shell


def write_key(command, folder: Path):
    """Run the first line, `manage.py marketplace_key ... > lab.env`, in this process, which has the test database."""
    program, *arguments = shlex.split(command, comments=True)
    assert (program, arguments[-2]) == ("manage.py", ">")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        call_command(*arguments[:-2])
    (folder / arguments[-1]).write_text(printed.getvalue())


def test_a_program_runs_here_after_the_documents_lines(steps, shell, tmp_path, new_worker):
    assert len(steps) <= 10
    (tmp_path / "your_program.py").write_text(PROGRAM)
    (tmp_path / "question.xml").write_text(QUESTION)
    write_key(steps[0], tmp_path)
    hit_id, status = shell([*steps[1:-1], f"{steps[-1].partition('#')[0]} publish"])
    assert status == "Assignable"
    browser = new_worker()
    browser.submit(browser.accept(HITType.objects.get().type_id, hit_id), label="cat")
    assert shell(steps[1:]) == [browser.worker.worker_id, "1", "999.88"]
