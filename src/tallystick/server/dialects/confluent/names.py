"""Names: subjects with their contexts, versions, pages."""

from collections.abc import Sequence
from typing import TypeVar

from tallystick.errors import InvalidArgument, SchemaNotFound
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, namespace_of, split, subject_of
from tallystick.registry.ports import Page
from tallystick.server.http import MalformedRequest, Request

T = TypeVar("T")

ALL_CONTEXTS = ":*:"
LARGEST = 2**31 - 1

_GLOBAL = {":.__GLOBAL:", ":.__GLOBAL", "__GLOBAL"}


def namespace(request: Request) -> str:
    """The namespace of the context in the path; the default one where the path has none."""
    context = request.path.get("context")
    if context is None:
        return DEFAULT_NAMESPACE
    context = context.removeprefix(":").removesuffix(":")
    if ":" in context:
        raise InvalidArgument("context", f"{context!r} has a colon inside, which separates contexts from subjects")
    return namespace_of(context)


def subject(request: Request) -> Subject:
    """The subject of the path. A context in the subject's own name counts over the one in the path."""
    return subject_of(request.path["subject"], namespace(request))


def level(request: Request) -> tuple[Subject | None, str | None]:
    """Where settings belong: to a subject, to a namespace, or (both None) to the server."""
    text = request.path.get("subject", "")
    around, name = split(text, namespace(request))
    if name and text not in _GLOBAL:
        return subject_of(text, around), None
    return None, None if around == DEFAULT_NAMESPACE or text in _GLOBAL else around


def in_query(request: Request) -> tuple[str, str]:
    """The namespace and the name that `subject` in the query says; the name is "" where it says none."""
    return split(request.text("subject"), namespace(request))


def prefix(request: Request, default: str) -> tuple[str | None, str]:
    """Where listings look: the namespace (None for all) and the first letters of the names.

    The default counts outside of a context's own path.
    """
    text = request.text("subjectPrefix", default if "context" not in request.path else "")
    if text.startswith(ALL_CONTEXTS):
        return None, text.removeprefix(ALL_CONTEXTS)
    return split(text, namespace(request))


def version(text: str) -> Version | None:
    """A version's number; None is the latest."""
    if text in ("latest", "-1"):
        return None
    if text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= LARGEST:
        return Version(int(text))
    raise InvalidArgument(
        "version",
        f"The specified version '{text[:100]}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"',
    )


def schema_id(request: Request) -> SchemaId:
    text = request.path["id"]
    if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LARGEST:
        return SchemaId(int(text))
    raise SchemaNotFound(f"Schema {text[:100]}")


def page(request: Request) -> Page:
    offset, limit = request.number("offset", 0), request.number("limit", -1)
    if offset < 0:
        raise MalformedRequest(f"offset counts from 0, {offset} is less")
    return Page(offset, None if limit < 0 else limit)


def paged(values: Sequence[T], page: Page) -> Sequence[T]:
    return values[page.offset :] if page.limit is None else values[page.offset : page.offset + page.limit]
