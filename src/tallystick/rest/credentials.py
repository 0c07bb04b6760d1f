"""Who we are to a registry, and whom we trust."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from tallystick.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A user with a password, or a token; for TLS a CA to trust, and a certificate of our own with its key."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    key_password: str | None = field(default=None, repr=False)

    def tls(self) -> ssl.SSLContext:
        """Raises `InvalidArgument` for files that cannot be used."""
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as e:
            raise InvalidArgument("CA", f"{self.ca} holds no certificates that can be used: {_reason(e)}") from e
        if self.certificate is not None:
            try:
                context.load_cert_chain(self.certificate, self.key, self.key_password or "")
            except (OSError, ssl.SSLError) as e:
                files = f"{self.certificate}" + ("" if self.key is None else f" with {self.key}")
                raise InvalidArgument("certificate", f"{files} cannot be used: {_reason(e)}") from e
        return context


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def split_url(url: str, credentials: Credentials | None) -> tuple[str, Credentials]:
    """The URL without user and password, which become credentials unless others are given.

    Raises `InvalidArgument` for what is no HTTP URL.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as e:
        raise InvalidArgument("registry", f"this is no URL: {e}") from e
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidArgument("registry", "a registry's URL begins with http:// or https:// and names a host")
    if parts.query or parts.fragment:
        raise InvalidArgument("registry", "a registry's URL ends with its path: leave out what begins with ? or #")
    address = f"[{host}]" if ":" in host else host
    bare = urlunsplit((parts.scheme, address + ("" if port is None else f":{port}"), parts.path.rstrip("/"), "", ""))
    if credentials is None and parts.username is not None:
        credentials = Credentials(username=unquote(parts.username), password=unquote(parts.password or ""))
    return bare, credentials or Credentials()
