"""Who may do what, over HTTP: users, tokens, roles, TLS, and the audit of it."""

import base64
import json
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import trustme
import yaml

from tallystick.server.security import hashed
from tests.integration.servers import Served, serving, start
from tests.ports import free_port

EMPTY = '{"type": "record", "name": "Order", "fields": []}'
TOKEN = "s3cret-of-ci"
PASSWORDS = {"admin": "adminpw", "reader": "readpw", "narrow": "narrowpw"}


def accounts(path: Path, **more: object) -> Path:
    file = {
        "users": {
            "admin": {"password": hashed("adminpw"), "roles": [{"role": "administer"}]},
            "reader": {"password": hashed("readpw"), "roles": [{"role": "read"}]},
            "narrow": {"password": hashed("narrowpw"), "roles": [{"role": "register", "on": "orders-*"}]},
        },
        "tokens": {"ci": {"secret": hashed(TOKEN), "roles": [{"role": "register"}]}},
        **more,
    }
    path.write_text(yaml.safe_dump(file))
    return path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("secure")
    with serving(folder / "data", f"--security={accounts(folder / 'accounts.yaml')}") as served:
        yield served


def asking(served: Served, name: str | None = None) -> httpx.Client:
    auth = httpx.BasicAuth(name, PASSWORDS[name]) if name else None
    return httpx.Client(base_url=served.url, auth=auth, timeout=20)


def register(http: httpx.Client, subject: str, text: str = EMPTY) -> httpx.Response:
    return http.post(f"/subjects/{subject}/versions", json={"schema": {"schemaDefinition": text}})


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/subjects", "errorMessage"),
        ("/confluent/subjects", "message"),
        ("/admin/v2/schemas/public/default/t/schema", "reason"),
        ("/metrics", "message"),
        ("/events", "message"),
        ("/audit", "message"),
    ],
)
def test_nobody_gets_in_without_saying_who_they_are(served: Served, path: str, field: str) -> None:
    with asking(served) as http:
        refused = http.get(path)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic")
    assert "who you are" in refused.json()[field]


def test_probes_and_documents_need_no_name(served: Served) -> None:
    with asking(served) as http:
        assert http.get("/health/ready").status_code == 200
        assert http.get("/openapi/openschema.json").status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "Basic " + base64.b64encode(b"admin:wrong").decode(),
        "Basic " + base64.b64encode(b"nobody:adminpw").decode(),
        "Basic !!!",
        "Basic",
        "Bearer ci.wrong",
        "Bearer " + TOKEN,
        "Digest admin",
        "",
    ],
)
def test_wrong_credentials(served: Served, header: str) -> None:
    with asking(served) as http:
        assert http.get("/subjects", headers={"authorization": header}).status_code == 401


def test_a_token_is_sent_with_its_name(served: Served) -> None:
    with asking(served) as http:
        http.headers["authorization"] = f"Bearer ci.{TOKEN}"
        assert register(http, "by-token").status_code == 200
        assert http.put("/config/by-token", json={"compatibility": "FULL"}).status_code == 403


def test_roles(served: Served) -> None:
    with asking(served, "reader") as reader, asking(served, "admin") as admin:
        refused = register(reader, "roles")
        assert (refused.status_code, refused.json()["errorCode"]) == (403, 40101)
        assert register(admin, "roles").status_code == 200
        assert reader.get("/subjects/roles/versions").json() == {"versions": [1]}
        pulsar = reader.post(
            "/admin/v2/schemas/public/default/t/schema", json={"type": "STRING", "schema": "", "properties": {}}
        )
        assert (pulsar.status_code, "may not register" in pulsar.json()["reason"]) == (403, True)
        confluent = reader.put("/confluent/config", json={"compatibility": "NONE"})
        assert confluent.status_code == 403


def test_a_role_on_some_subjects_shows_only_those(served: Served) -> None:
    with asking(served, "narrow") as narrow, asking(served, "admin") as admin:
        hidden = register(admin, "payments", '{"type": "enum", "name": "Hidden", "symbols": ["A"]}').json()["id"]
        shown = register(narrow, "orders-1", '{"type": "enum", "name": "Shown", "symbols": ["A"]}').json()["id"]
        assert register(narrow, "payments").status_code == 403
        assert narrow.get("/subjects/payments").status_code == 403
        assert [s["subject"] for s in narrow.get("/subjects").json()["subjects"]] == ["orders-1"]
        for _ in range(2):
            assert admin.get(f"/confluent/schemas/ids/{hidden}").status_code == 200  # now a prepared answer
            assert narrow.get(f"/confluent/schemas/ids/{hidden}").status_code == 403
            assert narrow.get(f"/confluent/schemas/ids/{shown}").status_code == 200
        assert narrow.get(f"/schemas/ids/{hidden}").status_code == 403
        assert narrow.get("/metrics").status_code == 403


def test_events_show_what_the_caller_may_read(served: Served) -> None:
    with asking(served, "narrow") as narrow, asking(served, "admin") as admin:
        register(admin, "payments-2")
        register(admin, "orders-told")
        subjects = set()
        with narrow.stream("GET", "/events?after=0") as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    subjects.add(json.loads(line.removeprefix("data: "))["subject"])
                if "orders-told" in subjects:
                    break
    assert all(subject.startswith("orders-") for subject in subjects)


def test_a_verified_credential_is_not_hashed_again(served: Served) -> None:
    with asking(served, "admin") as http:
        http.get("/health/live")
        http.get("/subjects?limit=1")
        started = time.perf_counter()
        for _ in range(20):
            assert http.get("/subjects?limit=1").status_code == 200
    assert (time.perf_counter() - started) / 20 < 0.04  # scrypt alone takes longer


def test_changes_name_who_made_them(served: Served) -> None:
    from tallystick.registry.service import Registry
    from tallystick.stores.sqlite import SqliteStore

    with asking(served, "admin") as http:
        register(http, "audited")
    data = next(Path(a.removeprefix("--data=")) for a in served.process.args if a.startswith("--data="))  # type: ignore[union-attr, arg-type]
    registry = Registry(SqliteStore(data / "registry.db"))
    try:
        entries = registry.read(lambda tx: tx.journal.after(0, 1000))
    finally:
        registry.close()
    entry = next(e for e in entries if e.subject is not None and e.subject.name == "audited")
    assert (entry.principal, entry.address) == ("admin", "127.0.0.1")


def test_anonymous_gets_the_roles_that_the_file_gives(tmp_path: Path) -> None:
    file = accounts(tmp_path / "accounts.yaml", anonymous={"roles": [{"role": "read"}]})
    with serving(tmp_path / "data", f"--security={file}") as served, asking(served) as http:
        assert http.get("/subjects").status_code == 200
        assert register(http, "anonymous").status_code == 403


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--http=0.0.0.0:{port}"], "--security"),
        (["--http=0.0.0.0:{port}", "--security={file}"], "--tls-cert"),
        (["--confluent=0.0.0.0:{port}", "--security={file}"], "--tls-cert"),
    ],
)
def test_other_machines_are_refused_until_security_is_settled(tmp_path: Path, arguments: list[str], told: str) -> None:
    file = accounts(tmp_path / "accounts.yaml")
    given = [argument.format(port=free_port(), file=file) for argument in arguments]
    served = start(tmp_path / "data", *given)
    assert served.process.wait(20) != 0
    served.process.stdout.close()  # type: ignore[union-attr]
    served.process.stderr.close()  # type: ignore[union-attr]
    assert any(told in line for line in served.errors), served.errors


def test_tls_with_certificates_of_clients(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    arguments = [f"--tls-{name}={tmp_path / file}" for name, file in (("cert", "cert.pem"), ("key", "key.pem"))]
    with serving(tmp_path / "data", *arguments, scheme="https") as served:
        assert httpx.get(f"{served.url}/health/ready", verify=trusting).status_code == 200
        assert any("https://" in line for line in served.output)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{served.http_port}/health/ready")
    arguments.append(f"--tls-client-ca={tmp_path / 'ca.pem'}")
    with serving(tmp_path / "data", *arguments, scheme="https") as served:
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{served.url}/health/ready", verify=trusting)
        authority.issue_cert("client@example.org").configure_cert(trusting)
        assert httpx.get(f"{served.url}/health/ready", verify=trusting).status_code == 200


def test_a_security_file_that_changes_counts_and_a_broken_one_does_not(tmp_path: Path) -> None:
    path = accounts(tmp_path / "accounts.yaml")
    with serving(tmp_path / "data", f"--security={path}") as served, asking(served, "reader") as http:
        assert http.get("/subjects").status_code == 200
        path.write_text("users: [")
        assert _until(lambda: any("cannot be used" in line for line in served.errors), http)
        assert http.get("/subjects").status_code == 200
        content = yaml.safe_load(accounts(tmp_path / "other.yaml").read_text())
        del content["users"]["reader"]
        content["users"]["late"] = {"password": hashed("latepw"), "roles": [{"role": "read"}]}
        path.write_text(yaml.safe_dump(content))
        assert _until(lambda: http.get("/subjects").status_code == 401, http)
        assert http.get("/subjects", auth=("late", "latepw")).status_code == 200
        path.unlink()
        assert _until(lambda: any("cannot be read" in line for line in served.errors), http)
        assert http.get("/subjects", auth=("late", "latepw")).status_code == 200


def _until(is_so: Callable[[], bool], http: httpx.Client, seconds: float = 20) -> bool:
    """Asks again and again: the file is looked at when somebody asks."""
    end = time.monotonic() + seconds
    while not is_so():
        http.get("/subjects")
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def test_the_audit_log_is_for_administrators(served: Served) -> None:
    with asking(served, "reader") as http:
        assert http.get("/audit").status_code == 403
    with asking(served, "admin") as http:
        for subject in ("audited-a", "audited-b"):
            register(http, subject).raise_for_status()
        http.put("/config/audited-a", json={"compatibility": "FULL"}).raise_for_status()

        def asked(**query: str | int) -> list[tuple[str, str | None]]:
            return [(e["kind"], e.get("subject")) for e in http.get("/audit", params=query).json()["entries"]]

        assert asked(subject="audited-a") == [("settings.changed", "audited-a"), ("schema.registered", "audited-a")]
        assert asked(subject="audited-a", kind="settings.changed") == [("settings.changed", "audited-a")]
        assert asked(principal="nobody") == asked(since="2100-01-01") == []
        first = http.get("/audit", params={"limit": 2}).json()
        assert [(e["kind"], e["principal"], e["address"]) for e in first["entries"]] == [
            ("settings.changed", "admin", "127.0.0.1"),
            ("schema.registered", "admin", "127.0.0.1"),
        ]
        second = http.get("/audit", params={"limit": 2, "before": first["next"]}).json()
        assert second["entries"][0]["id"] == first["entries"][-1]["id"] - 1
        for query in ({"limit": 0}, {"limit": 1001}, {"since": "yesterday"}, {"before": -1}):
            assert http.get("/audit", params=query).status_code == 400
