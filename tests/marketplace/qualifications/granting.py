"""What a requester sees of workers who ask for a qualification."""


def requests(mturk, **call):
    return mturk.list_qualification_requests(**call)["QualificationRequests"]


def score(mturk, type_id, browser):
    call = {"QualificationTypeId": type_id, "WorkerId": browser.worker.worker_id}
    return mturk.get_qualification_score(**call)["Qualification"]["IntegerValue"]
