"""Detection, cache, and answers that look like nothing we know."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tallystick.errors import InvalidArgument, Unauthenticated, Unavailable, Unsupported
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, INT8
from tallystick.rest import Credentials, RegistryClient
from tallystick.rest.connection import Retries
from tests.unit.rest.scripted import Reply, Script, running_script

QUICK = Retries(attempts=2, pause_s=0.001)


@pytest.fixture
def script() -> Iterator[Script]:
    with running_script() as running:
        yield running


@pytest.mark.parametrize(
    ("paths", "dialect", "base"),
    [
        ({"/subjects": Reply(200, [])}, "confluent", ""),
        ({"/confluent/subjects": Reply(200, []), "/subjects": Reply(200, {"subjects": []})}, "confluent", "/confluent"),
        ({"/apis/ccompat/v7/subjects": Reply(200, [])}, "confluent", "/apis/ccompat/v7"),
        ({"/subjects": Reply(200, {"subjects": []})}, "openschema", ""),
        ({"/subjects": Reply(403, {"errorCode": 40101})}, "openschema", ""),
        ({"/subjects": Reply(403, {"error_code": 403})}, "confluent", ""),
        ({"/admin/v2/clusters": Reply(200, ["standalone"])}, "pulsar", "/admin/v2"),
    ],
)
def test_the_dialect_is_found_by_asking_once(script: Script, paths: dict[str, Reply], dialect: str, base: str) -> None:
    script.by_path = paths
    with RegistryClient(script.url, retries=QUICK) as client:
        assert client.dialect == dialect
        asked = len(script.asked)
        assert client.dialect == dialect
        assert len(script.asked) == asked
    assert script.asked[-1].path.startswith(base + "/")


def test_a_base_path_is_kept(script: Script) -> None:
    script.by_path = {"/gate/way/subjects": Reply(200, ["a"])}
    with RegistryClient(f"{script.url}/gate/way/") as client:
        assert list(client.subjects()) == ["a"]


def test_what_is_no_registry_is_told(script: Script) -> None:
    with RegistryClient(script.url) as client, pytest.raises(InvalidArgument, match="not a registry"):
        client.versions("s")


def test_who_is_not_known_is_told_so(script: Script) -> None:
    script.replies = [Reply(401, {"error_code": 401, "message": "who are you?"})]
    with RegistryClient(script.url) as client, pytest.raises(Unauthenticated, match="who are you"):
        client.versions("s")


def test_an_unknown_dialect_is_told() -> None:
    with pytest.raises(InvalidArgument, match="klingon"):
        RegistryClient("http://localhost", "klingon")


def test_a_definition_is_asked_for_once(script: Script) -> None:
    script.by_path = {"/subjects": Reply(200, []), "/schemas/ids/7": Reply(200, {"schema": '"int"'})}
    with RegistryClient(script.url, "confluent", cache_size=1) as client:
        assert client.by_id(7) == client.by_id(7) == SchemaDefinition(AVRO, '"int"')
        assert [asked.path for asked in script.asked].count("/schemas/ids/7") == 1
        script.by_path["/schemas/ids/8"] = Reply(200, {"schema": '"long"'})
        client.by_id(8)
        client.by_id(7)
    assert [asked.path for asked in script.asked].count("/schemas/ids/7") == 2


def test_an_older_registry_answers_only_the_id(script: Script) -> None:
    found = {"subject": "s", "version": 4, "id": 9, "schema": '"int"'}
    script.by_path = {
        "/subjects": Reply(200, []),
        "/subjects/s/versions": Reply(200, {"id": 9}),
        "/subjects/s": Reply(200, found),
    }
    with RegistryClient(script.url, "confluent") as client:
        registered = client.register("s", SchemaDefinition(AVRO, '"int"'))
    assert (registered.id, registered.version) == (9, 4)


def test_a_registry_without_pages_is_read_once(script: Script) -> None:
    names = ["a", "b", "c"]
    script.by_path = {"/subjects": Reply(200, names)}
    with RegistryClient(script.url, "confluent") as client:
        assert list(client.subjects(page_size=2)) == names
        assert list(client.subjects(page_size=3)) == names


def test_messages_of_another_registry_are_kept(script: Script) -> None:
    message = "READER_FIELD_MISSING_DEFAULT_VALUE"
    verdict = {"is_compatible": False, "messages": [message]}
    script.by_path = {"/subjects": Reply(200, []), "/compatibility/subjects/s/versions": Reply(200, verdict)}
    with RegistryClient(script.url, "confluent") as client:
        found = client.check("s", SchemaDefinition(AVRO, '"int"'))
    assert (found.is_compatible, found.findings, found.messages) == (False, (), (message,))


def test_a_type_that_the_dialect_lacks_is_not_sent(script: Script) -> None:
    script.by_path = {"/subjects": Reply(200, [])}
    with RegistryClient(script.url, "confluent") as client, pytest.raises(Unsupported, match="INT8"):
        client.register("s", SchemaDefinition(INT8))


@pytest.mark.parametrize("body", [7, "x", [], {}, {"version": 1}, {"version": "x", "id": 1, "schema": ""}, {"id": {}}])
def test_strange_answers_are_told(script: Script, body: object) -> None:
    script.by_path = {"/subjects": Reply(200, []), "/subjects/s/versions/latest": Reply(200, body)}
    with RegistryClient(script.url, "confluent") as client, pytest.raises(InvalidArgument):
        client.by_version("s")


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    ours = authority.issue_cert("client@example.org")
    ours.private_key_and_cert_chain_pem.write_to_path(tmp_path / "client.pem")
    return authority


def test_a_ca_of_our_own_and_a_certificate_for_the_server(tmp_path: Path, authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    known = Credentials(ca=tmp_path / "ca.pem", certificate=tmp_path / "client.pem")
    with running_script(context) as script:
        script.replies = [Reply(200, [1])]
        with RegistryClient(script.url, "confluent", credentials=known, retries=QUICK) as client:
            assert client.versions("s") == [1]
        without = Credentials(ca=tmp_path / "ca.pem")
        client = RegistryClient(script.url, "confluent", credentials=without, retries=QUICK)
        with client, pytest.raises(Unavailable):
            client.versions("s")
        client = RegistryClient(script.url, "confluent", retries=QUICK)
        with client, pytest.raises(Unavailable, match="certificate"):
            client.versions("s")


@pytest.mark.parametrize("files", [{"ca": "nothing.pem"}, {"certificate": "nothing.pem"}])
def test_files_that_cannot_be_used_are_told(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "nothing.pem").write_text("nothing")
    found = {name: tmp_path / file for name, file in files.items()}
    with pytest.raises(InvalidArgument, match=r"nothing\.pem"):
        RegistryClient(
            "https://localhost", credentials=Credentials(ca=found.get("ca"), certificate=found.get("certificate"))
        )
