"""Users and tokens from one file, and who a request comes from.

    users:
      alice:
        password: scrypt$32768$8$1$…          # made by `tally secret`
        roles: [{role: administer}]
    tokens:
      ci:                                     # the client sends `Authorization: Bearer ci.<secret>`
        secret: scrypt$32768$8$1$…
        roles: [{role: register, on: "orders-*"}]
    anonymous:                                # who says nothing; leave it out to refuse them
      roles: [{role: read}]

Secrets are hashed with scrypt, which is slow on purpose: what has been verified once is remembered by a keyed digest.
A file that changes counts within a second or two; one that is broken then is told of, and the old one goes on.
"""

import base64
import binascii
import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tallystick.access import Action, Grant, Principal
from tallystick.errors import InvalidArgument, Unauthenticated

log = logging.getLogger("tallystick.security")

_COST, _BLOCK, _PARALLEL = 2**15, 8, 1
_MEMORY_BYTES = 128 * 1024 * 1024
_MOST_REMEMBERED = 10_000
_AT_ONCE = 2
"""Verifications that run side by side: guessing secrets must not take the machine."""

_LOOK_SECONDS = 1.0
"""How often, at most, the file is looked at."""

_FILE_FIELDS = {"users": "password", "tokens": "secret"}


@dataclass(frozen=True, slots=True)
class Account:
    principal: Principal
    secret: str


_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """The file that accounts come from, and what tells that it has been written since."""

    path: Path
    stamp: _Stamp | None


@dataclass(frozen=True, slots=True)
class Accounts:
    users: Mapping[str, Account] = field(default_factory=dict)
    tokens: Mapping[str, Account] = field(default_factory=dict)
    anonymous: Principal | None = None
    source: Source | None = None


def hashed(secret: str) -> str:
    salt = secrets.token_bytes(16)
    digest = _scrypt(secret, salt, _COST, _BLOCK, _PARALLEL)
    return "$".join(
        ["scrypt", str(_COST), str(_BLOCK), str(_PARALLEL), *(base64.b64encode(b).decode() for b in (salt, digest))]
    )


def is_secret(secret: str, stored: str) -> bool:
    _, cost, block, parallel, salt, digest = stored.split("$")
    found = _scrypt(secret, base64.b64decode(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(found, base64.b64decode(digest))


def _scrypt(secret: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=cost, r=block, p=parallel, maxmem=_MEMORY_BYTES, dklen=32)


_NO_ACCOUNT = "scrypt$32768$8$1$AAAAAAAAAAAAAAAAAAAAAA==$" + base64.b64encode(bytes(32)).decode()
"""Verified where the name is not known, so that the answer takes as long as for one that is."""


class FileAuthentication:
    """Basic and bearer credentials against the accounts of a file, as the file is now."""

    def __init__(self, accounts: Accounts) -> None:
        self._verified = _Verified(accounts)
        self._source = accounts.source
        self._next_look = time.monotonic() + _LOOK_SECONDS

    def known(self, headers: Any) -> Principal | None:
        if self._source is not None and time.monotonic() >= self._next_look:
            self._look(self._source)
        return self._verified.known(headers)

    def verify(self, headers: Any) -> Principal:
        return self._verified.verify(headers)

    def _look(self, source: Source) -> None:
        self._next_look = time.monotonic() + _LOOK_SECONDS
        stamp = _stamp(source.path)
        if stamp != source.stamp:
            self._source = Source(source.path, stamp)
            # Whoever asks does not wait for the file.
            threading.Thread(target=self._read_again, args=(source.path,), name="tallystick-security").start()

    def _read_again(self, path: Path) -> None:
        try:
            accounts = load(path)
        except InvalidArgument as e:
            log.error(
                "the security file has changed and cannot be used; the old one goes on", extra={"reason": e.message}
            )
            return
        self._verified = _Verified(accounts)
        log.info("the security file has been read again", extra={"file": str(path)})


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class _Verified:
    """Accounts, and who has shown their secret already."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._remembered: OrderedDict[bytes, Principal | None] = OrderedDict()
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._verifying = threading.Semaphore(_AT_ONCE)

    def known(self, headers: Any) -> Principal | None:
        header = headers.get("authorization")
        if header is None:
            return self._accounts.anonymous
        return self._remembered.get(self._digest(header))

    def verify(self, headers: Any) -> Principal:
        header = headers.get("authorization")
        if header is None:
            raise Unauthenticated("say who you are: send basic credentials or a bearer token")
        digest = self._digest(header)
        if digest not in self._remembered:
            with self._verifying:
                self._remember(digest, self._principal(header))
        principal = self._remembered.get(digest)
        if principal is None:
            raise Unauthenticated("the name or the secret is wrong")
        return principal

    def _digest(self, header: str) -> bytes:
        return hashlib.blake2b(header.encode(errors="surrogateescape"), key=self._key).digest()

    def _remember(self, digest: bytes, principal: Principal | None) -> None:
        with self._lock:
            self._remembered[digest] = principal
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)

    def _principal(self, header: str) -> Principal | None:
        scheme, _, credentials = header.partition(" ")
        if scheme.lower() == "basic":
            name, secret = _basic(credentials.strip())
            account = self._accounts.users.get(name)
        elif scheme.lower() == "bearer":
            name, _, secret = credentials.strip().partition(".")
            account = self._accounts.tokens.get(name)
        else:
            return None
        is_right = is_secret(secret, account.secret if account is not None else _NO_ACCOUNT)
        return account.principal if account is not None and is_right else None


def _basic(credentials: str) -> tuple[str, str]:
    try:
        name, _, secret = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return name, secret


class _Loader(yaml.SafeLoader):
    """Words stay words: YAML 1.1 reads the key `on` as true."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as the class above has it
        first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def load(path: Path) -> Accounts:
    """The accounts of a file; raises `InvalidArgument` that says what is wrong with it."""
    source = Source(path, _stamp(path))
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # a SafeLoader
    except OSError as e:
        raise InvalidArgument("security file", f"{path} cannot be read: {e.strerror}") from e
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        raise InvalidArgument("security file", f"{path} is not YAML: {e}") from e
    if not isinstance(raw, dict) or not set(raw) <= {"users", "tokens", "anonymous"} or not raw:
        raise InvalidArgument("security file", f"{path} has users, tokens and anonymous, and nothing else")
    anonymous = raw.get("anonymous")
    return Accounts(
        _accounts(raw, "users"),
        _accounts(raw, "tokens"),
        Principal("anonymous", _grants("anonymous", anonymous)) if anonymous is not None else None,
        source,
    )


def _accounts(raw: dict[str, Any], kind: str) -> dict[str, Account]:
    entries = raw.get(kind) or {}
    if not isinstance(entries, dict):
        raise InvalidArgument("security file", f"{kind} maps names to accounts")
    return {str(name): _account(kind, str(name), entry) for name, entry in entries.items()}


def _account(kind: str, name: str, entry: Any) -> Account:
    field_name = _FILE_FIELDS[kind]
    where = f"{kind}: {name}"
    if not isinstance(entry, dict) or not set(entry) <= {field_name, "roles"}:
        raise InvalidArgument("security file", f"{where} has {field_name} and roles, and nothing else")
    secret = entry.get(field_name)
    if not isinstance(secret, str) or not _is_hash(secret):
        raise InvalidArgument("security file", f"{where}: {field_name} is a hash as `tally secret` makes it")
    if (kind == "tokens" and "." in name) or ":" in name:
        raise InvalidArgument("security file", f"{where}: a name has no dot (tokens) and no colon")
    return Account(Principal(name, _grants(where, entry)), secret)


def _is_hash(text: str) -> bool:
    parts = text.split("$")
    if len(parts) != 6 or parts[0] != "scrypt" or not all(part.isdigit() for part in parts[1:4]):
        return False
    cost, block, parallel = map(int, parts[1:4])
    if not (cost >= 2 and cost & (cost - 1) == 0 and 0 < block <= 32 and 0 < parallel <= 16):
        return False
    try:
        return all(base64.b64decode(part, validate=True) for part in parts[4:]) and 128 * cost * block < _MEMORY_BYTES
    except binascii.Error:
        return False


def _grants(where: str, entry: Any) -> tuple[Grant, ...]:
    roles = entry.get("roles") if isinstance(entry, dict) else None
    if not isinstance(roles, list):
        raise InvalidArgument("security file", f'{where}: roles is a list of {{role: …, on: "…"}}')
    return tuple(_grant(where, role) for role in roles)


def _grant(where: str, role: Any) -> Grant:
    match role:
        case {"role": str(name), "on": str(pattern)} if len(role) == 2 and name in list(Action):
            return Grant(Action(name), pattern)
        case {"role": str(name)} if len(role) == 1 and name in list(Action):
            return Grant(Action(name))
    raise InvalidArgument(
        "security file", f"{where}: {role!r} is no role; roles are {', '.join(Action)}, each with `on`"
    )
