"""`tally serve`: the registry as one process; `tally secret`: what its file of users needs."""

import secrets
from pathlib import Path
from typing import Any

import click

from tallystick.errors import InvalidArgument

_LEVELS = ("debug", "info", "warning", "error")


class _AddressType(click.ParamType[tuple[str, int]]):
    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        host, _, port = str(value).rpartition(":")
        if not port.isdigit() or not 0 < int(port) < 65536:
            self.fail(f"{value!r} is not HOST:PORT", param, ctx)
        return host.strip("[]") or "127.0.0.1", int(port)


_ADDRESS = _AddressType()
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("tallystick-data"),
    show_default=True,
    help="The folder that keeps everything; made where it is missing.",
)
@click.option("--http", type=_ADDRESS, help="OpenSchema, Pulsar admin and the rest.  [default: 127.0.0.1:8080]")
@click.option("--confluent", type=_ADDRESS, help="Confluent's API at the root.  [default: 127.0.0.1:8081]")
@click.option("--pulsar", type=_ADDRESS, help="The broker, for Pulsar's clients.  [default: 127.0.0.1:6650]")
@click.option("--store", envvar="TALLY_STORE", help="postgresql://…; SQLite in the data folder where not given.")
@click.option("--security", type=_FILE, help="The file of users, tokens and roles; needed for other machines.")
@click.option("--tls-cert", type=_FILE, help="The certificate chain (PEM).")
@click.option("--tls-key", type=_FILE, help="Its private key (PEM).")
@click.option("--tls-client-ca", type=_FILE, help="Only clients with a certificate that this one signed may connect.")
@click.option("--plain-http", is_flag=True, help="Serve other machines without TLS: something in front ends it.")
@click.option("--log-level", type=click.Choice(_LEVELS), default="info", show_default=True)
@click.option("--no-broker", is_flag=True, help="The registry alone.")
def serve(
    data: Path,
    http: tuple[str, int] | None,
    confluent: tuple[str, int] | None,
    pulsar: tuple[str, int] | None,
    store: str | None,
    security: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    plain_http: bool,
    log_level: str,
    no_broker: bool,
) -> None:
    """Run the schema registry and the broker.

    It needs no flag: it keeps its data in ./tallystick-data and listens on this machine only, on the ports 8080, 8081
    and 6650. A default port that is taken is left out; one that you ask for must be free. SIGTERM stops it cleanly.
    """
    # Loaded here, so that the other commands do not wait for a web server and a database.
    from tallystick.serve import compose
    from tallystick.serve.config import Address, ServeConfig, Tls
    from tallystick.serve.ready import lines
    from tallystick.server import logs

    if (tls_cert is None) != (tls_key is None) or (tls_client_ca is not None and tls_cert is None):
        raise InvalidArgument("TLS", "--tls-cert and --tls-key come together; --tls-client-ca goes with them")
    if no_broker and pulsar is not None:
        raise InvalidArgument("--pulsar", "it says where the broker listens, and --no-broker says that there is none")
    defaults = ServeConfig()
    config = ServeConfig(
        data=data,
        store=store,
        http=Address(*http, is_requested=True) if http else defaults.http,
        confluent=Address(*confluent, is_requested=True) if confluent else defaults.confluent,
        pulsar=None if no_broker else Address(*pulsar, is_requested=True) if pulsar else defaults.pulsar,
        security=security,
        tls=Tls(tls_cert, tls_key, tls_client_ca) if tls_cert and tls_key else None,
        is_plain_http_allowed=plain_http,
        log_level=log_level,
    )
    logs.set_up(log_level)

    def ready(addresses: dict[str, Address]) -> None:
        told = [f"tally serve is ready; data in {'PostgreSQL' if store else data}"]
        told += lines(addresses, is_tls=config.tls is not None, has_users=security is not None)
        # At once, so that whoever waits for the first line gets all of them.
        click.echo("\n".join(told))

    compose.run(config, lambda text: click.echo(text, err=True), ready)


@click.command()
@click.option("--token", metavar="NAME", help="Make a token of this name and show it, once, with its hash.")
def secret(token: str | None) -> None:
    """Hash a password, or make a token, for the file of `tally serve --security`."""
    from tallystick.server.security import hashed

    if token is None:
        click.echo(hashed(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)))
        return
    made = secrets.token_urlsafe(32)
    click.echo(f"bearer: {token}.{made}")
    click.echo(f"secret: {hashed(made)}")
