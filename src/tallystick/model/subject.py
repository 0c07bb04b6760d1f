"""Subjects and namespaces, and how the dialects write them."""

import re
from dataclasses import dataclass
from typing import NewType

from tallystick.errors import InvalidArgument

SchemaId = NewType("SchemaId", int)
Version = NewType("Version", int)
"""1, 2, 3 … in a subject."""

DEFAULT_TENANT = "public"
DEFAULT_NAMESPACE = "public/default"
DEFAULT_CONTEXT = "."

_LONGEST = 500
_RESERVED = {"__GLOBAL", "__EMPTY"}
_QUALIFIED = re.compile(r":(\.[^:]*):(.*)", re.DOTALL)
_PART = re.compile(r"(?:~.|[^.~])+")


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """The named, ordered list of versions. `str` gives the name as Confluent qualifies it: `:.context:name`."""

    namespace: str
    name: str

    def __str__(self) -> str:
        if self.namespace == DEFAULT_NAMESPACE:
            return self.name
        return f":{context_of(self.namespace)}:{self.name}"


def subject_of(text: str, namespace: str = DEFAULT_NAMESPACE) -> Subject:
    """A subject from its name, qualified or not; the namespace counts where the name has none of its own.

    Raises `InvalidArgument` for what is no name: nothing, white space alone, control characters, over 500 characters.
    """
    subject = Subject(*split(text, namespace))
    if not subject.name.strip() or subject.name in _RESERVED or not subject.name.isprintable():
        raise InvalidArgument("subject", f"{text[:60]!r} is not a name that a subject can have")
    if len(text) > _LONGEST:
        raise InvalidArgument("subject", f"a name has at most {_LONGEST} characters, this one has {len(text)}")
    return subject


def split(text: str, namespace: str = DEFAULT_NAMESPACE) -> tuple[str, str]:
    """Namespace and name of a qualified name or of the beginning of one; `:.context:` and `:.context` have no name."""
    qualified = _QUALIFIED.fullmatch(text)
    if qualified is not None:
        return namespace_of(qualified[1]), qualified[2]
    return (namespace_of(text[1:]), "") if text.startswith(":.") else (namespace, text)


def context_of(namespace: str) -> str:
    """The Confluent context of a namespace: `.` for `public/default`, `.n` for `public/n`, `.t.n` for `t/n`.

    A tilde inside a part is written `~~`, a dot `~.`; only after a tenant a name's dots need no tilde, so that a
    context of many parts comes back as it was written.
    """
    if namespace == DEFAULT_NAMESPACE:
        return DEFAULT_CONTEXT
    tenant, _, name = namespace.partition("/")
    if tenant == DEFAULT_TENANT:
        return "." + _escaped(name)
    inner = [part.replace("~", "~~") for part in name.split(".")]
    return f".{_escaped(tenant)}." + (".".join(inner) if all(inner) else _escaped(name))


def _escaped(part: str) -> str:
    return part.replace("~", "~~").replace(".", "~.")


def namespace_of(context: str) -> str:
    """The namespace of a Confluent context; the leading dot may be left out."""
    parts = [re.sub("~(.)", r"\1", part) for part in _PART.findall(context)]
    if not parts:
        return DEFAULT_NAMESPACE
    if len(parts) == 1:
        parts.insert(0, DEFAULT_TENANT)
    return f"{parts[0]}/{'.'.join(parts[1:])}"
