"""Tables that the code knows best, inside pages that people write.

A page asks for one with `<!-- generated: NAME -->` and `<!-- end -->`; what stands between them is replaced.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path

from tallystick import registry as registry_package
from tallystick.access import Action, decision
from tallystick.broker import admin as broker_admin_package
from tallystick.broker.metrics import BrokerMetrics
from tallystick.model.settings import SERVER_DEFAULTS, TOPIC_DEFAULTS, Mode, Settings
from tallystick.registry.service import Limits, Registry
from tallystick.server import problems
from tallystick.server.app import HttpLimits
from tallystick.server.dialect import Dialect
from tallystick.server.dialects import confluent, openschema, pulsar_admin
from tallystick.server.feed import MOST_STREAMS
from tallystick.server.metrics import Metrics
from tallystick.server.pipeline_metrics import PipelineMetrics
from tallystick.server.prepared import PreparedAnswers
from tallystick.translate import CATALOGUE as TRANSLATION_RULES
from tallystick.translate import Severity
from tools import reference_client, reference_spark

DOCS = Path(__file__).parents[1] / "docs"

_SECTION = re.compile(r"(<!-- generated: ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    return [path for path in sorted(DOCS.rglob("*.md")) if _SECTION.search(path.read_text())]


def filled(page: str) -> str:
    """The page with its tables made anew. Raises `KeyError` for a name that is none."""
    return _SECTION.sub(lambda found: f"{found[1]}\n{SECTIONS[found[2]]()}\n{found[3]}", page)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _dialect(name: str) -> Dialect:
    # The routes need no store until they are asked.
    registry = Registry.__new__(Registry)
    dialects = [openschema.dialect(registry), confluent.dialect(registry), pulsar_admin.dialect(registry)]
    return next(dialect for dialect in dialects if dialect.name == name)


def _routes(name: str) -> str:
    routes = [route for route in _dialect(name).routes if not route.template.startswith("/contexts/{context}/")]
    return _table(
        ("route", "what it does", "query"),
        (
            (
                f"`{route.method} {route.template}`",
                route.operation.summary.rstrip("."),
                ", ".join(f"`{name}`" for name in route.operation.query),
            )
            for route in routes
        ),
    )


_WHEN: dict[str, str] = {
    "namespace-not-found": "there is no such namespace",
    "subject-not-found": "there is no such subject, or nothing of it is live",
    "version-not-found": "the subject has no such version",
    "schema-not-found": "there is no such schema, or a reference leads nowhere",
    "not-found": "what was asked for does not exist",
    "settings-not-found": "nothing is set at this level",
    "already-deleted": "it is deleted softly already",
    "not-deleted-yet": "a permanent delete comes after a soft one",
    "invalid-schema": "the schema cannot be parsed; the message has the place",
    "unknown-schema-type": "no such schema type",
    "schema-too-large": "the schema is above the limit",
    "invalid-record": "a value that does not fit its schema",
    "invalid-argument": "a version, strategy, mode or other argument that is none",
    "not-permitted": "the mode does not allow it",
    "reference-exists": "other schemas refer to it",
    "schema-id-taken": "the id of an import belongs to another definition",
    "namespace-not-empty": "the namespace has subjects",
    "incompatible-schema": "the strategy refuses it; the answer has the findings",
    "malformed-request": "the body or the query cannot be read",
    "unsupported-media-type": "the body is not JSON",
    "no-such-route": "there is no such path",
    "method-not-allowed": "the path has other methods; `Allow` names them",
    "body-too-large": "the body is above the limit",
    "body-too-slow": "the body did not arrive in time",
    "bad-request": "the request cannot be carried out as it is",
    "unauthenticated": "nobody, or nobody known, asks",
    "forbidden": "somebody known asks, and may not",
    "request-too-slow": "it took longer than the limit; what it changes may still happen",
    "unavailable": "the store does not answer; worth a retry",
    "internal": "a bug; the log has the request's id",
}
"""What an error means to a client, by its code."""

_BY_ARGUMENT = {
    "version": "a version that is none",
    "compatibility": "a strategy that is none",
    "mode": "a mode that is none",
    "subject": "a name that no subject can have",
    "rule set": "a rule set that is none",
}
_NEVER = {"invalid-argument", "invalid-record", "bad-request"}
"""Told by their arguments, or by none of the routes."""
_ALL_HAVE = {"version", "compatibility", "subject"}
_ONLY_CONFLUENT = {"schema-id-taken", "namespace-not-found", "namespace-not-empty", "not-found"}
_CONFLUENT_CODES = {
    40404: (404, "the subject is deleted softly already"),
    40405: (404, "the subject is not deleted softly yet"),
    40406: (404, "the version is deleted softly already"),
    40407: (404, "the version is not deleted softly yet"),
    40408: (404, "no strategy is set here"),
    40409: (404, "no mode is set here"),
}


_OF_TOPICS = {
    404: "there is no such tenant, namespace, topic, subscription or message",
    405: "it is not offered here, or not for a partitioned topic; the reason says what to use instead",
    406: "a number of partitions that is none",
    409: "it exists already, it is not empty, or there is nothing to do",
    412: "a name that is none; or producers or consumers use it, and `force` was not given",
    422: "fewer partitions than there are",
    501: "the server runs without a broker",
}
"""What Pulsar's statuses mean where it is about topics and subscriptions."""


def _errors(name: str) -> str:
    rows: dict[tuple[int, int], list[str]] = {}
    is_confluent = name == "confluent"
    for kind, problem in problems._TABLE.items():
        if kind.code not in _NEVER and (is_confluent or kind.code not in _ONLY_CONFLUENT):
            rows.setdefault((problem.status, _code(problem, name)), []).append(_WHEN[kind.code])
    for argument, code in problems._BY_ARGUMENT.items():
        if is_confluent or argument in _ALL_HAVE:
            rows.setdefault((422, code if name != "pulsar" else 422), []).append(_BY_ARGUMENT[argument])
    if name == "pulsar":
        for status, meaning in _OF_TOPICS.items():
            rows.setdefault((status, status), []).append(meaning)
    if is_confluent:
        for code, (status, when) in _CONFLUENT_CODES.items():
            rows.setdefault((status, code), []).append(when)
    told = sorted((status, code, "; ".join(dict.fromkeys(when))) for (status, code), when in rows.items())
    if name == "pulsar":
        return _table(("status", "when"), ((str(status), when) for status, _, when in told))
    return _table(("status", "code", "when"), ((str(status), str(code), when) for status, code, when in told))


def _code(problem: problems.Problem, name: str) -> int:
    return {"confluent": problem.confluent, "openschema": problem.openschema, "pulsar": problem.status}[name]


_SETTINGS = {
    "strategy": "which readings must hold: see [Strategies](strategies.md)",
    "mode": "what may be done: see below",
    "enforce": "`refuse`, or `warn`: what would be refused passes, and its findings are told; see"
    " [Start with warnings only](../howto/start-with-warnings.md)",
    "auto_update": "whether a client of a topic may bring a new schema",
    "validation_enforced": "whether a producer needs a schema on a topic that has one",
    "payload_validation": "what a broker asks of a message: `off`, `registered` (its schema version is one of the"
    " topic's), `half` (and every other payload fits its schema) or `all`",
    "optional_properties": "JSON Schema: `strict` or `lenient`, see"
    " [Choose strict or lenient JSON Schema](../howto/lenient-json-schema.md)",
    "normalize": "whether a schema that parses to the same counts as registered",
    "alias": "another subject that is meant by this one's name; a subject's own",
    "compatibility_group": "a property of the metadata; only versions with the same value are compared",
    "contract": "default and override metadata and rule sets, and what else Confluent's clients keep here",
}
_NAMES = {
    "strategy": "`compatibility`",
    "mode": "`/mode`",
    "enforce": "`enforce`",
    "auto_update": "`autoUpdate`",
    "validation_enforced": "`validationEnforced`",
    "payload_validation": "`payloadValidation`",
    "optional_properties": "`compatibilityPolicy`",
    "normalize": "`normalize`",
    "alias": "`alias`",
    "compatibility_group": "`compatibilityGroup`",
    "contract": "`defaultMetadata`, `overrideMetadata`, `defaultRuleSet`, `overrideRuleSet`, …",
}


def _settings() -> str:
    def default(name: str) -> str:
        value, topic = getattr(SERVER_DEFAULTS, name), getattr(TOPIC_DEFAULTS, name)
        if value in (None, {}):
            return ""
        told = str(value).lower() if isinstance(value, bool) else str(value)
        return told if value == topic else f"{told}; {topic} through Pulsar admin"

    names = [field.name for field in fields(Settings)]
    assert set(names) == set(_SETTINGS)
    rows = ((f"`{name}`", _NAMES.get(name, ""), default(name), _SETTINGS[name]) for name in names)
    return _table(("setting", "in Confluent's API", "default", "meaning"), rows)


_MODES = {
    Mode.READWRITE: "everything",
    Mode.READONLY: "reading; a subject may have another mode than the server",
    Mode.READONLY_OVERRIDE: "reading, whatever is set below",
    Mode.IMPORT: "registering with a given id and version; no strategy is asked",
    Mode.FORWARD: "reading: the changes are made at another server",
}


def _modes() -> str:
    return _table(("mode", "allows"), ((str(mode), _MODES[mode]) for mode in Mode))


_ROLES = {
    Action.READ: "look up, list, check, and follow the events",
    Action.REGISTER: "register and delete",
    Action.CONFIGURE: "change settings and modes, and register with `force`",
    Action.ADMINISTER: "everything, on all that the pattern names",
    Action.PRODUCE: "for the topics of a broker; includes read",
    Action.CONSUME: "for the topics of a broker; includes read",
}


def _roles() -> str:
    def includes(role: Action) -> str:
        return ", ".join(f"`{action}`" for action in Action if action in decision._ALLOWS[role] - {role})

    return _table(("role", "may", "includes"), ((f"`{role}`", _ROLES[role], includes(role)) for role in Action))


_EVENTS = {
    "schema.registered": "a schema became a version; `warnings` are the findings that `enforce: warn` let pass",
    "version.deleted": "a version was deleted softly",
    "version.removed": "a version was deleted for ever",
    "subject.deleted": "the live versions of a subject were deleted softly",
    "subject.removed": "a subject was deleted for ever",
    "subject.described": "a subject was created, or what is said of it changed",
    "settings.changed": "settings of a subject, a namespace or the server changed; `origin` is the cluster where,"
    " unless it is this one",
    "namespace.removed": "an empty namespace was deleted",
    "client.warned": "a producer or consumer of a topic was let in although it does not fit: `enforce: warn`",
    "tenant.created": "a tenant was created",
    "tenant.changed": "what is said of a tenant changed",
    "tenant.deleted": "a tenant was deleted",
    "namespace.created": "a namespace of the broker was created",
    "namespace.deleted": "a namespace of the broker was deleted",
    "topic.created": "an administrator created a topic; those that clients make are not told",
    "topic.changed": "a topic got more partitions or other properties",
    "topic.deleted": "a topic was deleted with its messages",
    "policy.changed": "what is set for the messages of a namespace or a topic changed",
    "subscription.created": "an administrator created a subscription; those that clients make are not told",
    "subscription.deleted": "an administrator deleted a subscription",
    "subscription.skipped": "messages were left out for a subscription",
    "subscription.reset": "a subscription was set to another place",
    "subscription.expired": "old messages were left out for a subscription",
    "subscription.changed": "the properties of a subscription changed",
    "pipeline.forgotten": "what a pipeline had said of itself was deleted",
}


def _events() -> str:
    found = recorded_kinds()
    assert set(found) == set(_EVENTS)
    rows = (
        (f"`tallystick.{kind}`", _EVENTS[kind], ", ".join(f"`{name}`" for name in sorted(found[kind])))
        for kind in _EVENTS
    )
    return _table(("type", "what happened", "data"), rows)


def recorded_kinds() -> dict[str, set[str]]:
    """The kinds of events that are recorded, each with the names of its data; read from the source."""
    kinds: dict[str, set[str]] = {}
    folders = [Path(inspect.getfile(package)).parent for package in (registry_package, broker_admin_package)]
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                for kind, data in _recorded(function):
                    kinds.setdefault(kind, set()).update(data)
    return kinds


def _recorded(function: ast.FunctionDef) -> Iterator[tuple[str, set[str]]]:
    named = {
        target.id: statement.value
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "record":
            kind = call.args[2]
            said = named[kind.id] if isinstance(kind, ast.Name) else kind
            data = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
            for value in ast.walk(said):
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value, data


_LIMITS = {
    "body_bytes": "size of one request's body, bytes",
    "body_seconds": "time to send a body, seconds",
    "request_seconds": "time until a request is answered, seconds",
    "threads": "requests that are worked on at the same time",
    "connections": "connections of each port",
    "schema_bytes": "size of one schema, bytes",
}


def _limits() -> str:
    values: Mapping[str, float] = {
        field.name: getattr(limits, field.name)
        for limits in (HttpLimits(), Limits())
        for field in fields(limits)
        if field.name in _LIMITS
    }
    rows = [(_LIMITS[name], f"{values[name]:,.0f}") for name in _LIMITS]
    return _table(("limit", "value"), [*rows, ("clients that follow the events of one server", str(MOST_STREAMS))])


def _metrics() -> str:
    metrics = Metrics()
    metrics.count_prepared(PreparedAnswers())
    metrics.also(BrokerMetrics(list))
    metrics.also(PipelineMetrics(list))
    text = metrics.text().decode()
    helps = dict(re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE))
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    return _table(("metric", "kind", "meaning"), ((f"`{name}`", kinds[name], helps[name]) for name in helps))


def _translation_rules() -> str:
    rows = (
        (
            f"`{rule.id}`",
            f"`{rule.name}`" if rule.severity is Severity.LOSSY else "impossible",
            rule.sentence,
            rule.instead,
        )
        for rule in TRANSLATION_RULES.values()
    )
    return _table(("rule", "allowed as", "what happens", "instead"), rows)


SECTIONS: dict[str, Callable[[], str]] = {
    **{f"routes {name}": partial(_routes, name) for name in ("openschema", "confluent", "pulsar")},
    **{f"errors {name}": partial(_errors, name) for name in ("openschema", "confluent", "pulsar")},
    "settings": _settings,
    "modes": _modes,
    "roles": _roles,
    "events": _events,
    "limits": _limits,
    "translation rules": _translation_rules,
    "metrics": _metrics,
    "client settings": reference_client.settings,
    "spark names": reference_spark.names,
    "spark columns": reference_spark.columns,
    "spark landed columns": reference_spark.landed_columns,
    "spark source options": reference_spark.source_options,
    "spark connectors": reference_spark.connectors,
}
