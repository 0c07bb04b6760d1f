"""Texts that have to be more than texts: URLs, patterns, times, import paths. Each says why one is not."""

import re
from datetime import datetime
from urllib.parse import urlsplit

from tallystick.pipeline.findings import SECRET_LITERAL
from tallystick.pipeline.shapes import Fault

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
"""Names become parts of paths, of queries' names and of URLs."""
NAME_FIX = "use up to 100 letters, digits and . _ -, a letter or a digit first"
BROKERS = ("pulsar", "pulsar+ssl", "kafka")
EARLIEST, LATEST = "earliest", "latest"

_IMPORT = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FORMS = "pulsar://HOST:PORT, pulsar+ssl://HOST:PORT or kafka://HOST:PORT"


def name(text: str) -> Fault | None:
    return None if re.fullmatch(NAME, text) else Fault("is no name", NAME_FIX)


def broker_url(text: str) -> Fault | None:
    try:
        parts = urlsplit(text)
    except ValueError:
        return Fault("is no URL", f"write {_FORMS}")
    if parts.scheme not in BROKERS or not parts.netloc:
        return Fault("names no cluster", f"write {_FORMS}; the embedded broker is a pulsar:// too")
    if "@" in parts.netloc:
        return _userinfo("credentials")
    if parts.path.strip("/") or parts.query or parts.fragment:
        return Fault("goes on after the host and the port", "name topics where they are used")
    return None


def registry_url(text: str) -> Fault | None:
    try:
        parts = urlsplit(text)
    except ValueError:
        return Fault("is no URL", "write http://HOST:PORT or https://HOST:PORT")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return Fault("names no registry", "write http://HOST:PORT or https://HOST:PORT")
    if "@" in parts.netloc:
        return _userinfo("registry_credentials")
    if parts.query or parts.fragment:
        return Fault("goes on after its path", "leave out what begins with ? or #")
    return None


def _userinfo(key: str) -> Fault:
    fix = f"write `{key}: {{username: …, password: {{env: NAME}}}}`, and the URL without them"
    return Fault("has a user or a password in it", fix, SECRET_LITERAL)


def pattern(text: str) -> Fault | None:
    try:
        re.compile(text)
    except re.error as e:
        return Fault(f"is no regular expression: {e.msg}", "correct it; a dot that means a dot is written \\.")
    return None


def moment(text: str) -> Fault | None:
    if text in (EARLIEST, LATEST):
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return Fault(
            "is neither `earliest` nor `latest` nor a time", "write a time of ISO 8601, such as 2026-01-31T12:00:00Z"
        )
    if when.tzinfo is None:
        return Fault("has no time zone", "write Z behind it for UTC, or an offset such as +02:00")
    return None


def import_path(text: str) -> Fault | None:
    if _IMPORT.fullmatch(text):
        return None
    return Fault("is no import path", "write `package.module:name`, with a colon before the name")


def renaming(text: str) -> Fault | None:
    if text.count("{topic}") != 1 or re.search(r"[{}]", text.replace("{topic}", "")):
        return Fault("does not have `{topic}` in it once", "write a name with {topic} in it, such as `edge-{topic}`")
    return None
