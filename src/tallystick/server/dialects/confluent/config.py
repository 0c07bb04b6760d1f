"""/config: what is set for a subject, a context or the server."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from tallystick.access import Caller
from tallystick.compat.options import OptionalProperties
from tallystick.errors import InvalidArgument, SettingsNotFound, SubjectNotFound
from tallystick.model.settings import SERVER_DEFAULTS, Enforce, PayloadValidation, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject, subject_of
from tallystick.registry import policies
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, names
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.components import FLAG, ref
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route

_NONE = "NONE"
_OWN_WORDS = {
    "enforce": "enforce",
    "payloadValidation": "payload_validation",
    "autoUpdate": "auto_update",
    "validationEnforced": "validation_enforced",
}
_FIELDS = (
    *("strategy", "alias", "normalize", "compatibility_group", "optional_properties", "contract"),
    *_OWN_WORDS.values(),
)
# Clients that do not know our own words see them only where somebody has set them.
_DEFAULTS = SERVER_DEFAULTS.with_changes(dict.fromkeys(_OWN_WORDS.values()))


def routes(registry: Registry) -> Iterator[Route]:
    scope = {"defaultToGlobal": FLAG}
    config, asked = ref("Config"), ref("ConfigRequest")
    for template, errors in (("/config", (400, 422)), ("/config/{subject}", (400, 404, 422))):
        get = Operation("Get the settings", scope, None, config, errors)
        put = Operation("Change settings; null takes one back", {}, asked, asked, (*errors, 415))
        delete = Operation("Take the settings back", {}, None, config, errors)
        yield Route("GET", template, partial(_get, registry), get)
        yield Route("PUT", template, partial(_put, registry), put)
        yield Route("DELETE", template, partial(_delete, registry), delete)


def _get(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    if request.flag("defaultToGlobal"):
        found = policies.in_force(registry, subject, namespace, _DEFAULTS, caller=request.caller)
        return answer(request, _shown(found, "compatibilityLevel"))
    shown = _own(registry, request.caller, subject, namespace)
    if not shown:
        raise SettingsNotFound("compatibility", request.path.get("subject") or request.path["context"])
    return answer(request, shown)


def _own(registry: Registry, caller: Caller, subject: Subject | None, namespace: str | None) -> dict[str, Any]:
    """What is set at a level; the server always has a compatibility level."""
    shown = _shown(policies.own(registry, subject, namespace, caller=caller), "compatibilityLevel")
    if subject is None and namespace is None:
        return {**_shown(Settings(strategy=SERVER_DEFAULTS.strategy), "compatibilityLevel"), **shown}
    return shown


def _put(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    changes = _changes(request.object())
    if "alias" in changes and subject is None:
        raise InvalidArgument("alias", "only a subject can be an alias")
    after = policies.change(registry, request.caller, changes, subject, namespace)
    return answer(request, _shown(after, "compatibility"))


def _delete(registry: Registry, request: Request) -> Response:
    subject, namespace = names.level(request)
    before = _own(registry, request.caller, subject, namespace)
    if not before:
        raise SubjectNotFound(request.path.get("subject") or request.path["context"])
    policies.take_back(registry, request.caller, _FIELDS, subject, namespace)
    return answer(request, before)


def _shown(settings: Settings, level: str) -> dict[str, Any]:
    policy = settings.optional_properties
    fields = {
        level: _NONE if settings.strategy is Strategy.ALWAYS_COMPATIBLE else settings.strategy,
        "alias": settings.alias,
        "normalize": settings.normalize,
        "compatibilityGroup": settings.compatibility_group,
        "compatibilityPolicy": policy and policy.upper(),
        **{word: getattr(settings, field) for word, field in _OWN_WORDS.items()},
        **settings.contract,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _strategy(body: Mapping[str, Any], name: str) -> Strategy | None:
    word = bodies.string(body, name)
    if word is None:
        return None
    known = {str(strategy): strategy for strategy in Strategy if strategy is not Strategy.ALWAYS_COMPATIBLE}
    found = {_NONE: Strategy.ALWAYS_COMPATIBLE, **known}.get(word.upper())
    if found is None:
        levels = ", ".join([_NONE, *known])
        raise InvalidArgument("compatibility", f"Invalid compatibility level {word[:50]!r}. Valid values are {levels}")
    return found


def _optional_properties(body: Mapping[str, Any], name: str) -> str | None:
    word = bodies.string(body, name)
    if word is None:
        return None
    if word.upper() not in OptionalProperties.__members__:
        raise InvalidArgument("compatibility", f"Invalid {name} {word[:50]!r}. Valid values are STRICT, LENIENT")
    return OptionalProperties[word.upper()].value


def _one_of(choices: type[StrEnum]) -> "_Reader":
    def read(body: Mapping[str, Any], name: str) -> StrEnum | None:
        word = bodies.string(body, name)
        if word is None:
            return None
        if word.lower() not in tuple(choices):
            raise InvalidArgument(
                "compatibility", f"Invalid {name} {word[:50]!r}. Valid values are {', '.join(choices)}"
            )
        return choices(word.lower())

    return read


def _alias(body: Mapping[str, Any], name: str) -> str | None:
    word = bodies.string(body, name)
    if word:
        subject_of(word)
    return word or None


_Reader = Callable[[Mapping[str, Any], str], Any]

_READERS: dict[str, tuple[str, _Reader]] = {
    # Where a client sends both names, the one for requests counts.
    "compatibilityLevel": ("strategy", _strategy),
    "compatibility": ("strategy", _strategy),
    "alias": ("alias", _alias),
    "normalize": ("normalize", bodies.flag),
    "compatibilityGroup": ("compatibility_group", bodies.string),
    "compatibilityPolicy": ("optional_properties", _optional_properties),
    "enforce": ("enforce", _one_of(Enforce)),
    "payloadValidation": ("payload_validation", _one_of(PayloadValidation)),
    "autoUpdate": ("auto_update", bodies.flag),
    "validationEnforced": ("validation_enforced", bodies.flag),
}
_CONTRACT: dict[str, _Reader] = {
    "aliasForDeks": bodies.string,
    "validateFields": bodies.flag,
    "validateNewSchemas": bodies.flag,
    "validateRules": bodies.flag,
    "defaultMetadata": lambda body, name: bodies.metadata(body[name], name),
    "overrideMetadata": lambda body, name: bodies.metadata(body[name], name),
    "defaultRuleSet": lambda body, name: bodies.rule_set(body[name], name),
    "overrideRuleSet": lambda body, name: bodies.rule_set(body[name], name),
}


def _changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the body has, null ones too; the others stay as they are."""
    changes = {field: read(body, name) for name, (field, read) in _READERS.items() if name in body}
    contract = {name: read(body, name) for name, read in _CONTRACT.items() if name in body}
    return {**changes, "contract": contract} if contract else changes
