"""Subjects, namespaces and contexts."""

import pytest

from tallystick.errors import InvalidArgument
from tallystick.model.subject import Subject, context_of, namespace_of, split, subject_of


@pytest.mark.parametrize(
    ("namespace", "context"),
    [
        ("public/default", "."),
        ("public/n", ".n"),
        ("t/n", ".t.n"),
        ("t/a.b.c", ".t.a.b.c"),
        ("public/a.b", ".a~.b"),
        ("a.b/c", ".a~.b.c"),
        ("t/~", ".t.~~"),
        ("t/.a", ".t.~.a"),
        ("t/a..b", ".t.a~.~.b"),
        ("t/default", ".t.default"),
    ],
)
def test_a_namespace_and_its_context(namespace: str, context: str) -> None:
    assert context_of(namespace) == context
    assert namespace_of(context) == namespace


def test_the_dot_before_a_context_may_be_left_out() -> None:
    assert namespace_of("t.n") == "t/n"
    assert namespace_of("") == "public/default"


@pytest.mark.parametrize(
    ("text", "namespace", "name"),
    [
        ("a", "around/it", "a"),
        (":.c:a", "public/c", "a"),
        (":.:a", "public/default", "a"),
        (":.c:", "public/c", ""),
        (":.c", "public/c", ""),
        (":.c:a:b", "public/c", "a:b"),
        (":a", "around/it", ":a"),
        ("", "around/it", ""),
    ],
)
def test_a_name_and_where_it_is(text: str, namespace: str, name: str) -> None:
    assert split(text, "around/it") == (namespace, name)


def test_a_subject_is_written_as_it_is_read() -> None:
    for subject in (Subject("public/default", "a"), Subject("t/n", "a:b"), Subject("t/x.y", "/")):
        assert subject_of(str(subject)) == subject


@pytest.mark.parametrize("text", ["", " ", ":.c:", "__GLOBAL", ":.c:__EMPTY", "a\nb", "x" * 501])
def test_what_is_no_subject(text: str) -> None:
    with pytest.raises(InvalidArgument):
        subject_of(text)
