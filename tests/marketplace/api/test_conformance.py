"""Every operation of the service model answers with its output shape, or is refused in words."""

import pytest
from botocore.model import ListShape, StructureShape

from marketplace import clock
from marketplace.accounts import keys
from marketplace.api import calls, service_model
from marketplace.api.dispatch import OPERATIONS
from marketplace.api.service_model import TYPES, validate
from marketplace.models import HIT, Assignment
from tests.marketplace.api.bodies import BODIES

ALWAYS_REFUSED = {"GetFileUploadURL"}


def strays(shape, value, path):
    """Yield every place where a value is not what the shape says, unknown members included."""
    if not TYPES[shape.type_name][1](value):
        yield f"{path}: {value!r} is no {shape.type_name}"
    elif isinstance(shape, StructureShape):
        yield from (f"{path}.{name} is unknown" for name in value.keys() - shape.members.keys())
        for name in value.keys() & shape.members.keys():
            yield from strays(shape.members[name], value[name], f"{path}.{name}")
    elif isinstance(shape, ListShape):
        for number, item in enumerate(value):
            yield from strays(shape.member, item, f"{path}[{number}]")


def filled_lists(answer):
    return [len(value) for value in answer.values() if isinstance(value, list)]


def test_every_operation_is_there():
    assert len(service_model.operation_names()) == 39
    assert service_model.operation_names() == OPERATIONS.keys()
    assert OPERATIONS.keys() - ALWAYS_REFUSED == BODIES.keys()


@pytest.mark.parametrize("operation", sorted(BODIES))
def test_answers_have_the_output_shape(scene, requester, operation):
    body = BODIES[operation](scene)
    shape = service_model.service().operation_model(operation).output_shape
    call = calls.Call(
        requester=requester, body=validate(service_model.input_shape(operation), body), now=clock.now()
    )
    answer = OPERATIONS[operation](call)
    assert list(strays(shape, answer, operation)) == []
    assert validate(shape, answer) == answer
    assert 0 not in filled_lists(answer)
    assert bool(answer) == bool(shape.members)


def test_no_work_holds_a_file(mturk, scene):
    with pytest.raises(mturk.exceptions.RequestError, match="No question asks for a file") as caught:
        mturk.get_file_upload_url(**scene["work"], QuestionIdentifier="q")
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.OperationNotSupported"


@pytest.mark.parametrize("operation", sorted(service_model.operation_names()))
def test_an_empty_request_is_never_a_fault(connect, requester, operation):
    key, secret = keys.create_key(requester)
    client = connect(key.key_id, secret, parameter_validation=False)
    try:
        status = client._make_api_call(operation, {})["ResponseMetadata"]["HTTPStatusCode"]
    except client.exceptions.ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    assert status in {200, 400}
    assert (HIT.objects.count(), Assignment.objects.count()) == (0, 0)
