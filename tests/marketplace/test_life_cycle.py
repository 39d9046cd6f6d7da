"""A HIT from publication to payment, by real boto3 on one side and the worker's pages on the other."""


def counts(mturk, hit_id):
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    return (
        hit["HITStatus"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsCompleted"],
    )


def test_a_hit_is_published_done_and_paid(mturk, values, new_worker):
    hit = mturk.create_hit(**values)["HIT"]
    worker = new_worker()
    assignment_id = worker.accept(hit["HITTypeId"])
    assert worker.submit(assignment_id, answer="yes") == 200
    listed = mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [(row["AssignmentId"], row["WorkerId"], row["AssignmentStatus"]) for row in listed] == [
        (assignment_id, worker.worker.worker_id, "Submitted")
    ]
    mturk.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Thank you")
    decided = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert (decided["AssignmentStatus"], decided["RequesterFeedback"]) == ("Approved", "Thank you")
    balance = mturk.get_account_balance()
    # One paid at 0.38 + 0.08, four still held.
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("997.70", "1.84")
