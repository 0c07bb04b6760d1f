"""Names in paths and queries."""

import pytest

from tallystick.errors import InvalidArgument, SchemaNotFound
from tallystick.model.subject import Subject
from tallystick.registry.ports import Page
from tallystick.server.dialects.confluent import names
from tallystick.server.http import MalformedRequest, Request


def _at(query: str = "", **path: str) -> Request:
    return Request("GET", path, query)


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ({}, (None, None)),
        ({"subject": "a"}, (Subject("public/default", "a"), None)),
        ({"subject": ":.c:a"}, (Subject("public/c", "a"), None)),
        ({"subject": ":.c:"}, (None, "public/c")),
        ({"subject": ":.c"}, (None, "public/c")),
        ({"subject": ":.:"}, (None, None)),
        ({"subject": ":.__GLOBAL:"}, (None, None)),
        ({"subject": "__GLOBAL"}, (None, None)),
        ({"context": ".c"}, (None, "public/c")),
        ({"context": ":.c:"}, (None, "public/c")),
        ({"context": "c", "subject": "a"}, (Subject("public/c", "a"), None)),
        ({"context": ".c", "subject": ":.d:a"}, (Subject("public/d", "a"), None)),
        ({"context": ".c", "subject": ":.d:"}, (None, "public/d")),
        ({"context": "."}, (None, None)),
    ],
)
def test_the_level_that_settings_belong_to(path: dict[str, str], level: tuple[Subject | None, str | None]) -> None:
    assert names.level(_at(**path)) == level


@pytest.mark.parametrize(
    ("query", "path", "found"),
    [
        ("", {}, (None, "")),
        ("subjectPrefix=", {}, ("public/default", "")),
        ("subjectPrefix=a", {}, ("public/default", "a")),
        ("subjectPrefix=:*:a", {}, (None, "a")),
        ("subjectPrefix=:.c:a", {}, ("public/c", "a")),
        ("", {"context": ".c"}, ("public/c", "")),
        ("subjectPrefix=a", {"context": ".c"}, ("public/c", "a")),
        ("subjectPrefix=:*:", {"context": ".c"}, (None, "")),
    ],
)
def test_where_a_listing_looks(query: str, path: dict[str, str], found: tuple[str | None, str]) -> None:
    assert names.prefix(_at(query, **path), names.ALL_CONTEXTS) == found


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("2147483647", 2**31 - 1), ("latest", None), ("-1", None)])
def test_versions(text: str, number: int | None) -> None:
    assert names.version(text) == number


@pytest.mark.parametrize("text", ["0", "-2", "2147483648", "1.0", "٣", "", "newest", "9" * 5000])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(InvalidArgument):
        names.version(text)


@pytest.mark.parametrize("text", ["x", "-1", "٣", "9" * 5000])
def test_what_is_no_id_is_not_found(text: str) -> None:
    with pytest.raises(SchemaNotFound):
        names.schema_id(_at(id=text))


def test_pages() -> None:
    assert names.page(_at()) == Page()
    assert names.page(_at("offset=3&limit=2")) == Page(3, 2)
    assert names.page(_at("limit=0")) == Page(0, 0)
    with pytest.raises(MalformedRequest):
        names.page(_at("offset=-1"))
    assert names.paged([1, 2, 3, 4], Page(1, 2)) == [2, 3]
    assert names.paged([1, 2, 3, 4], Page(3)) == [4]


def test_a_colon_inside_a_context() -> None:
    with pytest.raises(InvalidArgument):
        names.namespace(_at(context=".a:b"))
