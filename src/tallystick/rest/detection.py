"""Which dialect a URL speaks, and where its paths begin: found by asking."""

from tallystick.errors import InvalidArgument
from tallystick.rest.confluent import ConfluentRegistry
from tallystick.rest.connection import Answer, Connection
from tallystick.rest.dialect import RegistryDialect
from tallystick.rest.openschema import OpenSchemaRegistry
from tallystick.rest.problems import error_of
from tallystick.rest.pulsar import PulsarRegistry

DIALECTS = ("auto", "confluent", "openschema", "pulsar")

_PULSAR = "/admin/v2"
_APICURIO = "/apis/ccompat/v7"
# Confluent's API tells the most, so where a server speaks several it is taken.
_CONFLUENT_AT = {"auto": ("/confluent", "", _APICURIO), "confluent": ("", "/confluent", _APICURIO)}


def detect(connection: Connection, dialect: str) -> RegistryDialect:
    """Raises `Unavailable` where nobody answers, `InvalidArgument` where it is no registry that does."""
    if dialect == "pulsar" or (dialect == "auto" and connection.url.endswith(_PULSAR)):
        return _pulsar(connection)
    if dialect == "openschema":
        return OpenSchemaRegistry(connection)
    for prefix in _CONFLUENT_AT[dialect]:
        below = connection.under(prefix)
        found = _spoken(below.ask("GET", "/subjects", {"limit": 1}))
        if found == "confluent":
            return ConfluentRegistry(below)
        if found == "openschema" and dialect == "auto":
            return OpenSchemaRegistry(below)
    if dialect == "auto" and _is_pulsar(connection.under(_PULSAR)):
        return _pulsar(connection)
    spoken = "a registry" if dialect == "auto" else "Confluent's API"
    raise InvalidArgument("registry", f"{connection.url} answers, but it is not {spoken}; is the path complete?")


def _pulsar(connection: Connection) -> RegistryDialect:
    return PulsarRegistry(connection if connection.url.endswith(_PULSAR) else connection.under(_PULSAR))


def _spoken(answer: Answer) -> str | None:
    if answer.status == 401 or answer.status >= 500:
        raise error_of(answer.status, answer.body, {})
    body = answer.body
    if isinstance(body, list) and answer.status == 200:
        return "confluent"
    if isinstance(body, dict) and answer.status in (200, 403):
        # Who may not list subjects may still read some: the refusal has the dialect's form.
        return (
            "openschema" if "subjects" in body or "errorCode" in body else "confluent" if "error_code" in body else None
        )
    return None


def _is_pulsar(connection: Connection) -> bool:
    answer = connection.ask("GET", "/clusters")
    return answer.status in (200, 401, 403) and answer.is_json == (answer.status == 200)
