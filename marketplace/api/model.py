"""botocore's description of the service: the shapes requests are checked against."""

from functools import cache

from botocore.loaders import Loader
from botocore.model import ServiceModel, StructureShape


@cache
def service() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("mturk", "service-2", "2017-01-17"), "mturk")


@cache
def operation_names() -> frozenset[str]:
    return frozenset(service().operation_names)


@cache
def input_shape(operation: str) -> StructureShape:
    shape = service().operation_model(operation).input_shape
    if not isinstance(shape, StructureShape):
        raise TypeError(f"{operation} takes no structure.")
    return shape
