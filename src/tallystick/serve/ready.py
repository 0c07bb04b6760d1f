"""Waiting for a port of our own to answer, and what to tell users then."""

import asyncio
from collections.abc import Iterable

from tallystick.serve.config import Address

_POLL_SECONDS = 0.01


async def all_answer(addresses: Iterable[Address]) -> None:
    """Returns when connections are accepted at every address."""
    for address in addresses:
        await _answers(address)


async def _answers(address: Address) -> None:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104  # not to listen on
    while True:
        try:
            _, writer = await asyncio.open_connection(host, address.port)
        except OSError:
            await asyncio.sleep(_POLL_SECONDS)
            continue
        writer.close()
        return


def lines(addresses: dict[str, Address], *, is_tls: bool, has_users: bool) -> list[str]:
    """What users can paste, for what is served."""
    scheme = "https" if is_tls else "http"
    who = " -u NAME:PASSWORD" if has_users else ""
    told = []
    if "pulsar" in addresses:
        told += _pulsar_lines(addresses["pulsar"], is_tls=is_tls, has_users=has_users)
    if "http" in addresses:
        url = f"{scheme}://{addresses['http']}"
        told += [
            "OpenSchema",
            f"  curl{who} {url}/subjects",
            "Pulsar admin",
            f"  curl{who} {url}/admin/v2/schemas/public/default/my-topic/schema",
            f"  pulsar-admin --admin-url {url} schemas get my-topic",
        ]
    if "confluent" in addresses or "http" in addresses:
        url = f"{scheme}://{addresses['confluent']}" if "confluent" in addresses else f"{url}/confluent"
        login = ', "basic.auth.user.info": "NAME:PASSWORD"' if has_users else ""
        told += [
            "Confluent, Java",
            f"  schema.registry.url={url}",
            *(
                ["  basic.auth.credentials.source=USER_INFO", "  basic.auth.user.info=NAME:PASSWORD"]
                if has_users
                else []
            ),
            "Confluent, Python",
            f'  SchemaRegistryClient({{"url": "{url}"{login}}})',
            "PySpark",
            f'  schema = urlopen("{url}/subjects/my-topic-value/versions/latest/schema").read().decode()',
            '  frame.select(from_avro(expr("substring(value, 6)"), schema))',
        ]
    return told


def _pulsar_lines(address: Address, *, is_tls: bool, has_users: bool) -> list[str]:
    url = f"{'pulsar+ssl' if is_tls else 'pulsar'}://{address}"
    login = ', authentication=pulsar.AuthenticationToken("NAME.SECRET")' if has_users else ""
    return [
        "Pulsar, Python",
        f'  pulsar.Client("{url}"{login})',
        "Pulsar, Java",
        f'  PulsarClient.builder().serviceUrl("{url}").build()',
    ]
