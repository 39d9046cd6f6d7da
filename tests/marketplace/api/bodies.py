"""A valid request of every operation, made of the ids in the fixture `scene`."""

QUALIFICATION = {"Name": "Trusted", "Description": "d", "QualificationTypeStatus": "Active"}


NOTIFICATION = {
    "Destination": "https://sqs.example/1/queue",
    "Transport": "SQS",
    "Version": "2014-08-15",
    "EventTypes": ["HITCreated"],
}


def type_values(row):
    names = ("Title", "Description", "Reward", "AssignmentDurationInSeconds")
    return {name: row["values"][name] for name in names}


BODIES = {
    "AcceptQualificationRequest": lambda row: row["asked"],
    "ListQualificationRequests": lambda row: {},
    "RejectQualificationRequest": lambda row: row["asked"],
    "ApproveAssignment": lambda row: row["work"],
    "AssociateQualificationWithWorker": lambda row: row["kind"] | row["worker"],
    "CreateAdditionalAssignmentsForHIT": lambda row: row["hit"] | {"NumberOfAdditionalAssignments": 1},
    "CreateHIT": lambda row: row["values"],
    "CreateHITType": type_values,
    "CreateHITWithHITType": lambda row: {
        **row["type"],
        "LifetimeInSeconds": 60,
        "Question": row["values"]["Question"],
    },
    "CreateQualificationType": lambda row: QUALIFICATION | {"Name": "Another"},
    "CreateWorkerBlock": lambda row: row["worker"] | {"Reason": "r"},
    "DeleteHIT": lambda row: row["old"],
    "DeleteQualificationType": lambda row: row["kind"],
    "DeleteWorkerBlock": lambda row: row["worker"],
    "DisassociateQualificationFromWorker": lambda row: row["kind"] | row["worker"],
    "GetAccountBalance": lambda row: {},
    "GetAssignment": lambda row: row["work"],
    "GetHIT": lambda row: row["hit"],
    "GetQualificationScore": lambda row: row["kind"] | row["worker"],
    "GetQualificationType": lambda row: row["kind"],
    "ListAssignmentsForHIT": lambda row: row["hit"],
    "ListBonusPayments": lambda row: row["hit"],
    "ListHITs": lambda row: {},
    "ListHITsForQualificationType": lambda row: row["kind"],
    "ListQualificationTypes": lambda row: {"MustBeRequestable": True},
    "ListReviewableHITs": lambda row: {},
    "ListReviewPolicyResultsForHIT": lambda row: row["hit"],
    "ListWorkerBlocks": lambda row: {},
    "ListWorkersWithQualificationType": lambda row: row["kind"],
    "NotifyWorkers": lambda row: {"Subject": "s", "MessageText": "m", "WorkerIds": ["A1NOBODY"]},
    "RejectAssignment": lambda row: row["work"] | {"RequesterFeedback": ""},
    "SendTestEventNotification": lambda row: {"Notification": NOTIFICATION, "TestEventType": "Ping"},
    "UpdateNotificationSettings": lambda row: row["type"] | {"Notification": NOTIFICATION},
    "SendBonus": lambda row: {**row["worker"], **row["work"], "BonusAmount": "1", "Reason": "r"},
    "UpdateExpirationForHIT": lambda row: row["hit"] | {"ExpireAt": 0},
    "UpdateHITReviewStatus": lambda row: row["old"],
    "UpdateHITTypeOfHIT": lambda row: row["hit"] | row["type"],
    "UpdateQualificationType": lambda row: row["kind"] | {"Description": "e"},
}
