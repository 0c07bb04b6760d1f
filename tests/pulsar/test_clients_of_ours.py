"""What only ours is asked: TLS and tokens with unmodified clients, and the words of its refusals."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulsar
import pytest
import trustme
import yaml
from pulsar.schema import AvroSchema

from tallystick.server.security import hashed
from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.maven import missing
from tests.pulsar.binary import record, schema
from tests.pulsar.cases.verification import A, C
from tests.pulsar.go_client import missing_go, run_go
from tests.pulsar.java_client import run_java
from tests.pulsar.raw import connected
from tests.pulsar.servers import Server, running_ours

_SECRETS = {"all": "s3cret-of-all", "reader": "s3cret-of-a-reader"}
_TOKENS = {name: f"{name}.{secret}" for name, secret in _SECRETS.items()}
needs_java = pytest.mark.skipif(missing() is not None, reason=f"the Java client cannot run here: {missing()}")
needs_go = pytest.mark.skipif(missing_go() is not None, reason=f"the Go client cannot be built here: {missing_go()}")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_ours(tmp_path_factory.mktemp("plain")) as server:
        yield server


@dataclass(frozen=True, slots=True)
class Secure:
    server: Server
    trust: str


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    folder = tmp_path_factory.mktemp("secure")
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    for number, blob in enumerate(certificate.cert_chain_pems):
        blob.write_to_path(folder / "cert.pem", append=number > 0)
    authority.cert_pem.write_to_path(folder / "ca.pem")
    arguments = [
        f"--security={_accounts(folder)}",
        f"--tls-cert={folder / 'cert.pem'}",
        f"--tls-key={folder / 'key.pem'}",
    ]
    with running_ours(folder / "data", *arguments, tls=True) as server:
        yield Secure(server, str(folder / "ca.pem"))


def _accounts(folder: Path) -> Path:
    roles = {"all": [{"role": "administer"}], "reader": [{"role": "consume"}]}
    tokens = {name: {"secret": hashed(_SECRETS[name]), "roles": roles[name]} for name in roles}
    (folder / "accounts.yaml").write_text(yaml.safe_dump({"tokens": tokens}))
    return folder / "accounts.yaml"


def _client(secure: Secure, token: str, seconds: int = 10) -> pulsar.Client:
    return pulsar.Client(
        secure.server.service_url,
        authentication=pulsar.AuthenticationToken(token),
        tls_trust_certs_file_path=secure.trust,
        logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error),
        operation_timeout_seconds=seconds,
    )


def test_the_python_client_over_tls_with_a_token(secure: Secure) -> None:
    client = _client(secure, _TOKENS["all"])
    consumer = client.subscribe("secured", "s")
    client.create_producer("secured").send(b"secret")
    assert consumer.receive(10_000).data() == b"secret"
    client.close()


def test_a_wrong_token_is_not_let_in(secure: Secure) -> None:
    client = _client(secure, "all.wrong", seconds=3)
    # The client tries again until its time is up, whatever the server says.
    with pytest.raises((pulsar.AuthenticationError, pulsar.ConnectError, pulsar.Timeout)):
        client.create_producer("secured")
    client.close()


def test_a_token_without_the_role_is_not_let_in(secure: Secure) -> None:
    client = _client(secure, _TOKENS["reader"])
    with pytest.raises(pulsar.AuthorizationError):
        client.create_producer("secured")
    client.close()


@pytest.mark.jvm
@needs_java
def test_the_java_client_over_tls_with_a_token(secure: Secure) -> None:
    server, names = secure.server, ("avro", "seek")
    environment = {"TALLYSTICK_TOKEN": _TOKENS["all"], "TALLYSTICK_TRUST": secure.trust}
    steps = run_java(server.service_url, server.admin_url, "secured", *names, **environment)
    assert [outcome for name, outcome in steps["avro"] if name == "AUTO_CONSUME"], steps
    assert ["by id", ["m2"]] in steps["seek"]


@needs_go
def test_the_go_client_over_tls_with_a_token(secure: Secure) -> None:
    server = secure.server
    environment = {"TALLYSTICK_TOKEN": _TOKENS["all"], "TALLYSTICK_TRUST": secure.trust}
    steps = run_go(server.service_url, server.admin_url, "secured", "avro", **environment)
    assert [name for name, _ in steps["avro"]] == ["message"] * 3 + ["end"], steps


@pytest.mark.jvm
@needs_java
def test_the_java_client_is_told_why_it_is_not_let_in(plain: Server) -> None:
    scripts = ("incompatible", "exclusive-access", "transaction")
    steps = run_java(plain.service_url, plain.admin_url, "told", *scripts)
    incompatible = dict(steps["incompatible"])
    assert incompatible["a producer"]["error"] == "IncompatibleSchemaException"
    assert "field `id`" in incompatible["a producer"]["message"]
    assert "AVRO_" in incompatible["a consumer"]["message"]
    assert "not offered" in dict(steps["exclusive-access"])["an exclusive producer"]["message"]
    assert "not offered" in dict(steps["transaction"])["a transaction"]["message"]


def _refusal(server: Server, kind: str, command: Any) -> str:
    with connected(server.service_url) as raw:
        answer = raw.request(kind, command)
    return str(answer.message)


def test_a_refusal_names_the_rule_the_field_and_the_fix(plain: Server) -> None:
    topic = "persistent://public/default/explained"
    first, other = schema(record(A)), schema(record(A, C))
    with connected(plain.service_url) as raw:
        raw.request("PRODUCER", api.CommandProducer(topic=topic, producer_id=1, request_id=0, schema=first))
    producer = api.CommandProducer(topic=topic, producer_id=1, request_id=0, schema=other)
    consumer = api.CommandSubscribe(
        topic=topic, subscription="s", subType="Shared", consumer_id=1, request_id=0, schema=other
    )
    for kind, command in (("PRODUCER", producer), ("SUBSCRIBE", consumer)):
        text = _refusal(plain, kind, command)
        assert "AVRO_FIELD_ADDED_NEEDS_DEFAULT" in text
        assert "`c`" in text
        assert "fix:" in text


def test_the_python_client_raises_for_a_schema_that_does_not_fit(plain: Server) -> None:
    client = pulsar.Client(plain.service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    client.create_producer("refused", schema=AvroSchema(None, schema_definition=json.loads(record(A))))
    with pytest.raises(pulsar.IncompatibleSchema):
        client.create_producer("refused", schema=AvroSchema(None, schema_definition=json.loads(record(A, C))))
    client.close()
