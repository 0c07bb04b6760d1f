"""How Pulsar's admin API tells that something went wrong: its status codes, its words."""

from typing import Any

from tallystick import errors
from tallystick.errors import TallystickError
from tallystick.server.http import Request, Response, as_json
from tallystick.server.problems import problem_of


class Refusal(TallystickError):
    """An answer that only this API has."""

    code = "refused"

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason, status=status)
        self.status = status


def problem(error: TallystickError, request: Request) -> Response:
    status, reason = _told(error, request)
    body: dict[str, Any] = {"reason": reason}
    if isinstance(error, errors.IncompatibleSchema):
        body["findings"] = [finding.as_dict() for finding in error.findings]
    return Response(status, as_json(body))


def _told(error: TallystickError, request: Request) -> tuple[int, str]:
    match error:
        case Refusal():
            return error.status, error.message
        case errors.AlreadyExists():
            return 409, _exists(request)
        case errors.Busy():
            return _busy(error)
        case errors.TenantNotFound():
            return 404, _no_tenant(request)
        case errors.NamespaceNotFound():
            return 404, _no_namespace(request)
        case errors.SubscriptionNotFound():
            return 404, _no_subscription(request)
        case errors.TopicNotFound() if request.method == "DELETE" and "subscription" in request.path:
            return 404, _no_subscription(request)
        case errors.InvalidArgument() if error.argument in _INVALID:
            return _INVALID[error.argument], error.message
    return problem_of(error).status, error.message


_INVALID = {"topic": 412, "subscription": 412, "partitions": 406, "position": 412}


def _exists(request: Request) -> str:
    if "subscription" in request.path:
        return "Subscription already exists for topic"
    if "topic" in request.path:
        return "This topic already exists"
    return "Namespace already exists" if "namespace" in request.path else "Tenant already exist"


def _busy(error: errors.Busy) -> tuple[int, str]:
    match error.__dict__["what"]:
        case "tenant":
            return 409, "The tenant still has active namespaces"
        case "namespace":
            return 409, "Cannot delete non empty namespace"
        case "subscription":
            return 412, "Subscription has active connected consumers"
    return 412, error.message


def _no_tenant(request: Request) -> str:
    if "namespace" not in request.path:
        if request.method == "DELETE":
            return "Tenant doesn't exist"
        if request.method == "POST":
            return f"Tenant {request.path['tenant']} not found"
    return "Tenant does not exist"


def _no_namespace(request: Request) -> str:
    if "topic" in request.path:
        return "Namespace not found"
    return "Namespace policies does not exist" if request.method == "POST" else "Namespace does not exist"


def _no_subscription(request: Request) -> str:
    path = request.path
    topic = f"persistent://{path['tenant']}/{path['namespace']}/{path['topic']}"
    return f"Subscription {path['subscription']} not found for topic {topic}"
