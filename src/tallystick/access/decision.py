"""The decision: may this principal do this to that?"""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from tallystick.errors import Forbidden


class Action(StrEnum):
    """Each role allows what is below it on its own line: administer ⊃ configure ⊃ register ⊃ read."""

    READ = "read"
    REGISTER = "register"
    CONFIGURE = "configure"
    ADMINISTER = "administer"
    PRODUCE = "produce"
    CONSUME = "consume"


_ALLOWS = {
    Action.READ: {Action.READ},
    Action.REGISTER: {Action.READ, Action.REGISTER},
    Action.CONFIGURE: {Action.READ, Action.REGISTER, Action.CONFIGURE},
    Action.ADMINISTER: set(Action),
    Action.PRODUCE: {Action.PRODUCE, Action.READ},
    Action.CONSUME: {Action.CONSUME, Action.READ},
}


@dataclass(frozen=True, slots=True)
class Grant:
    """A role on the resources that match a pattern (`*` and `?`): `orders-*`, `:.acme.sales:*`, or `*` for all."""

    role: Action
    pattern: str = "*"


@dataclass(frozen=True, slots=True)
class Principal:
    name: str
    grants: tuple[Grant, ...] = ()


ANYBODY = Principal("anybody", (Grant(Action.ADMINISTER),))
"""Who asks where nobody has to say who they are: on loopback, without security."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal, and where the request came from."""

    principal: Principal = ANYBODY
    address: str | None = None


def is_allowed(principal: Principal, action: Action, resource: str) -> bool:
    """`resource` is a subject as users write it, a topic, or "" for the server itself."""
    return any(
        action in _ALLOWS[grant.role] and (grant.pattern == "*" or fnmatchcase(resource, grant.pattern))
        for grant in principal.grants
    )


def reads_everything(principal: Principal) -> bool:
    """Whether nothing can be hidden from the principal, so that no subject has to be asked about."""
    return any(grant.pattern == "*" and Action.READ in _ALLOWS[grant.role] for grant in principal.grants)


def require(caller: Caller, action: Action, resource: str = "") -> None:
    if not is_allowed(caller.principal, action, resource):
        what = resource or "the server"
        raise Forbidden(
            f"{caller.principal.name!r} may not {action} {what}; ask an administrator for the role '{action}' on it",
            principal=caller.principal.name,
            action=str(action),
            resource=resource,
        )
