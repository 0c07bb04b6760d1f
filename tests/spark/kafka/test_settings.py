"""The options of Kafka's client library in the words of Kafka's Java clients."""

from pathlib import Path

import pytest

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.rest import Credentials
from tallystick.spark.cluster import Cluster
from tallystick.spark.kafka.settings import connector_options, rdkafka_options

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
KEY = "-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n"


def told(credentials: Credentials | None = None, **options: object) -> dict[str, str]:
    """Underscores in the names of options stand for dots."""
    named = {name.replace("_", "."): value for name, value in options.items()}
    java = connector_options(Cluster("kafka://one:9092,two:9092", credentials=credentials, options=named))
    assert java.pop("kafka.bootstrap.servers") == "one:9092,two:9092"
    return java


def test_without_credentials_nothing_is_said() -> None:
    assert told() == {}


def test_a_user_with_a_password() -> None:
    user = Credentials(username="ann", password='a"b\\c')
    assert told(user) == {
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": f'{PLAIN} username="ann" password="a\\"b\\\\c";',
    }
    scram = told(user, sasl_mechanisms="SCRAM-SHA-512", security_protocol="SASL_SSL")
    assert scram["kafka.sasl.mechanism"] == "SCRAM-SHA-512"
    assert scram["kafka.security.protocol"] == "SASL_SSL"
    assert "scram.ScramLoginModule required username" in scram["kafka.sasl.jaas.config"]
    assert not [name for name in scram if name.endswith(("username", "password", "mechanisms"))]


def test_options_go_over_credentials() -> None:
    java = told(Credentials(username="ann", password="a"), sasl_username="bob", sasl_password="b")
    assert java["kafka.sasl.jaas.config"] == f'{PLAIN} username="bob" password="b";'
    own = told(Credentials(username="ann", password="a"), sasl_jaas_config="mine")
    assert own["kafka.sasl.jaas.config"] == "mine"


def test_certificates_go_along_as_text(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("ca", "certificate", "key")}
    for name, file in files.items():
        file.write_text(KEY if name == "key" else f"the {name}")
    java = told(Credentials(**files, key_password="secret"))  # type: ignore[arg-type]
    assert java == {
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": "the ca",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "the certificate",
        "kafka.ssl.keystore.key": KEY,
        "kafka.ssl.key.password": "secret",
    }
    pem = told(ssl_ca_pem="inline", ssl_endpoint_identification_algorithm="none")
    assert pem["kafka.ssl.truststore.certificates"] == "inline"
    assert pem["kafka.ssl.endpoint.identification.algorithm"] == ""


def test_a_keystore_and_other_names() -> None:
    java = told(
        ssl_keystore_location="/k.p12", socket_timeout_ms=5, enable_idempotence=True, client_id="me", debug="all"
    )
    assert java == {
        "kafka.ssl.keystore.location": "/k.p12",
        "kafka.ssl.keystore.type": "PKCS12",
        "kafka.request.timeout.ms": "5",
        "kafka.enable.idempotence": "true",
        "kafka.client.id": "me",
    }


def test_oauth_and_kerberos() -> None:
    oauth = told(
        sasl_mechanism="OAUTHBEARER", sasl_oauthbearer_method="oidc", sasl_oauthbearer_client_id="me",
        sasl_oauthbearer_client_secret="s", sasl_oauthbearer_token_endpoint_url="https://host/token",
    )  # fmt: skip
    assert oauth["kafka.sasl.jaas.config"].endswith('LoginModule required clientId="me" clientSecret="s";')
    assert oauth["kafka.sasl.oauthbearer.token.endpoint.url"] == "https://host/token"
    assert oauth["kafka.sasl.login.callback.handler.class"].endswith("OAuthBearerLoginCallbackHandler")
    assert "kafka.sasl.oauthbearer.client.secret" not in oauth
    kerberos = told(sasl_kerberos_keytab="/k", sasl_kerberos_principal="me@HOST", sasl_kerberos_service_name="kafka")
    assert 'keyTab="/k" principal="me@HOST";' in kerberos["kafka.sasl.jaas.config"]
    assert kerberos["kafka.sasl.kerberos.service.name"] == "kafka"


def test_what_java_clients_cannot_do_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="verify certificates"):
        told(enable_ssl_certificate_verification=False)
    with pytest.raises(Unsupported, match="oidc"):
        told(sasl_mechanism="OAUTHBEARER")
    with pytest.raises(InvalidArgument, match="No such file"):
        told(ssl_ca_location=str(tmp_path / "none"))
    with pytest.raises(InvalidArgument, match="openssl pkcs8"):
        told(ssl_certificate_pem="c", ssl_key_pem="-----BEGIN RSA PRIVATE KEY-----")
    with pytest.raises(InvalidArgument, match="PLAIN or SCRAM"):
        told(sasl_username="ann")
    with pytest.raises(InvalidArgument, match="is no Kafka"):
        connector_options(Cluster("pulsar://host:6650"))
    with pytest.raises(InvalidArgument, match="kafka://HOST:PORT"):
        connector_options(Cluster("kafka://host:9092/topic"))


def test_librdkafka_gets_what_the_client_gets() -> None:
    user = Credentials(username="ann", password="a")
    options = {"kafka.client.id": "me", "sasl.mechanisms": "SCRAM-SHA-256"}
    assert rdkafka_options(Cluster("kafka://host:9092", credentials=user, options=options)) == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "ann",
        "sasl.password": "a",
        "client.id": "me",
    }
