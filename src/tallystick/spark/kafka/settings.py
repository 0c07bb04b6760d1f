"""What Spark's Kafka connector is told of a cluster: the settings of Kafka's Java clients.

A cluster has the options of `tallystick.Client`, which are librdkafka's. Where the two libraries say the same thing
in other words it is translated here; everything else goes as it is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.rest import Credentials
from tallystick.spark.cluster import KAFKA, Cluster

_OTHER_NAMES = {
    "sasl.mechanisms": "sasl.mechanism",
    "compression.codec": "compression.type",
    "request.required.acks": "acks",
    "queue.buffering.max.ms": "linger.ms",
    "message.timeout.ms": "delivery.timeout.ms",
    "message.max.bytes": "max.request.size",
    "socket.timeout.ms": "request.timeout.ms",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
}
_ONLY_RDKAFKA = frozenset({"log_level", "debug", "error_cb", "logger", "stats_cb", "statistics.interval.ms"})
_LOGIN = "org.apache.kafka.common.security"
_PKCS8 = "PRIVATE KEY-----"


def servers_of(cluster: Cluster) -> str:
    """Raises `InvalidArgument` for what is no URL of a Kafka cluster."""
    if cluster.kind != KAFKA:
        raise InvalidArgument("cluster", f"{cluster.url[:60]!r} is no Kafka; its topics are read by `read_topic`")
    parts = urlsplit(cluster.url)
    if not parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidArgument("url", f"{cluster.url[:60]!r} is no address of Kafka; write kafka://HOST:PORT")
    return parts.netloc


def rdkafka_options(cluster: Cluster) -> dict[str, Any]:
    """What librdkafka is told; the program's own options go over what the credentials say."""
    known = cluster.credentials or Credentials()
    has_tls = known.ca is not None or known.certificate is not None
    told: dict[str, Any] = {}
    if known.username is not None:
        told = {"sasl.mechanism": "PLAIN", "sasl.username": known.username, "sasl.password": known.password or ""}
        told["security.protocol"] = "SASL_SSL" if has_tls else "SASL_PLAINTEXT"
    elif has_tls:
        told["security.protocol"] = "SSL"
    files = {"ssl.ca.location": known.ca, "ssl.certificate.location": known.certificate, "ssl.key.location": known.key}
    told |= {name: str(path) for name, path in files.items() if path is not None}
    if known.key_password is not None:
        told["ssl.key.password"] = known.key_password
    own = {name.removeprefix("kafka."): value for name, value in cluster.options.items()}
    if "sasl.mechanisms" in own:
        own["sasl.mechanism"] = own.pop("sasl.mechanisms")
    return told | own


def connector_options(cluster: Cluster) -> dict[str, str]:
    """With `kafka.` before the names, as the connector wants them. Reads the files of certificates and keys.

    What they hold goes along, so that no executor needs the files.
    """
    told = {name: value for name, value in rdkafka_options(cluster).items() if name not in _ONLY_RDKAFKA}
    java = {"bootstrap.servers": servers_of(cluster), **_login(told), **_tls(told)}
    for name, value in told.items():
        java[_OTHER_NAMES.get(name, name)] = _text(value)
    return {f"kafka.{name}": value for name, value in java.items()}


def _login(told: dict[str, Any]) -> dict[str, str]:
    """Takes what it translates out of `told`."""
    mechanism = str(told.get("sasl.mechanism", "GSSAPI")).upper()
    if "sasl.jaas.config" in told:
        return {}
    if "sasl.username" in told:
        if mechanism == "GSSAPI":
            raise InvalidArgument("sasl.mechanism", "a user with a password needs one: PLAIN or SCRAM-SHA-512")
        kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        pair = {"username": told.pop("sasl.username"), "password": told.pop("sasl.password", "")}
        return {"sasl.jaas.config": _jaas(f"{_LOGIN}.{kind}LoginModule", pair)}
    if mechanism == "OAUTHBEARER":
        return _oauth(told)
    if "sasl.kerberos.keytab" in told or "sasl.kerberos.principal" in told:
        places = {"keyTab": told.pop("sasl.kerberos.keytab", ""), "principal": told.pop("sasl.kerberos.principal", "")}
        login = {"useKeyTab": True, "storeKey": True, **places}
        return {"sasl.jaas.config": _jaas("com.sun.security.auth.module.Krb5LoginModule", login)}
    return {}


def _oauth(told: dict[str, Any]) -> dict[str, str]:
    if told.pop("sasl.oauthbearer.method", "default") != "oidc":
        raise Unsupported(
            "OAUTHBEARER works by sasl.oauthbearer.method=oidc here: a function of yours has no executors"
        )
    names = {"client.id": "clientId", "client.secret": "clientSecret", "scope": "scope"}
    given = {java: told.pop(f"sasl.oauthbearer.{name}", None) for name, java in names.items()}
    parts = {name: value for name, value in given.items() if value is not None}
    handler = f"{_LOGIN}.oauthbearer.OAuthBearerLoginCallbackHandler"
    return {
        "sasl.jaas.config": _jaas(f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule", parts),
        "sasl.login.callback.handler.class": handler,
    }


def _jaas(module: str, parts: Mapping[str, Any]) -> str:
    return f"{module} required " + " ".join(f"{name}={_quoted(_text(value))}" for name, value in parts.items()) + ";"


def _quoted(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise InvalidArgument("sasl.password", "users and passwords of Kafka's Java clients are on one line")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _tls(told: dict[str, Any]) -> dict[str, str]:
    """Takes what it translates out of `told`."""
    java: dict[str, str] = {}
    if str(told.pop("enable.ssl.certificate.verification", True)).lower() == "false":
        raise Unsupported("Kafka's Java clients verify certificates; name the CA that signed them by ssl.ca.location")
    if told.get("ssl.endpoint.identification.algorithm") == "none":
        told["ssl.endpoint.identification.algorithm"] = ""
    authorities = _pem(told, "ssl.ca")
    if authorities is not None:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authorities}
    certificate, key = _pem(told, "ssl.certificate"), _pem(told, "ssl.key")
    if certificate is not None and key is not None:
        java |= {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": certificate}
        java["ssl.keystore.key"] = _pkcs8(key)
    elif "ssl.keystore.location" in told and "ssl.keystore.type" not in told:
        # The only kind that librdkafka reads.
        java["ssl.keystore.type"] = "PKCS12"
    return java


def _pem(told: dict[str, Any], name: str) -> str | None:
    text, file = told.pop(f"{name}.pem", None), told.pop(f"{name}.location", None)
    if text is not None or file is None:
        return None if text is None else str(text)
    try:
        return Path(file).read_text()
    except (OSError, UnicodeDecodeError) as e:
        reason = getattr(e, "strerror", None) or "it is no PEM file"
        raise InvalidArgument(f"{name}.location", f"{file} cannot be read: {reason}") from e


def _pkcs8(key: str) -> str:
    if any(f"-----BEGIN {kind} {_PKCS8}" in key for kind in ("RSA", "EC", "DSA")):
        fix = "turn it into one by `openssl pkcs8 -topk8 -in KEY -out NEW`"
        raise InvalidArgument("ssl.key.location", f"Kafka's Java clients read keys of PKCS #8 alone; {fix}")
    return key


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
