"""What a request's texts may hold, and the bytes that are kept."""

import json
import logging

import pytest

from tallystick.server.http import MalformedRequest, Request, Response, UnsupportedMediaType
from tallystick.server.logs import JsonLines
from tallystick.server.prepared import PreparedAnswers


@pytest.mark.parametrize("body", [b'"\\u0000"', b'["\\ud800"]', b'{"\\udc00": 1}', b"{", b"\xff", b"[" * 5000])
def test_bodies_that_are_refused(body: bytes) -> None:
    with pytest.raises(MalformedRequest):
        Request("POST", {}, body=body).json()


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert Request("POST", {}, body=b'"\\ud83d\\ude00"').json() == "😀"


def test_media_types() -> None:
    with pytest.raises(UnsupportedMediaType):
        Request("POST", {}, headers={"content-type": "text/plain"}, body=b"{}").json()
    custom = {"content-type": "application/vnd.openschema.v1+json; charset=utf-8"}
    assert Request("POST", {}, headers=custom, body=b"{}").json() == {}


@pytest.mark.parametrize(("query", "value"), [("a=True", True), ("a=false", False), ("a", True), ("", False)])
def test_flags(query: str, value: bool) -> None:
    assert Request("GET", {}, query).flag("a") is value


def test_numbers_and_flags_that_are_none() -> None:
    for query in ("n=x", f"n={2**70}", "n=%00"):
        with pytest.raises(MalformedRequest):
            Request("GET", {}, query).number("n", 0)
    with pytest.raises(MalformedRequest):
        Request("GET", {}, "f=maybe").flag("f")


def test_an_answer_made_before_a_delete_is_not_kept_after_it() -> None:
    prepared = PreparedAnswers()
    before = prepared.generation
    prepared.forget()
    prepared.keep("/a", Response(200, b"old"), before, "d", "r")
    assert "/a" not in prepared.by_path
    prepared.keep("/a", Response(200, b"new"), prepared.generation, "d", "r")
    assert prepared.by_path["/a"].body == b"new"


def test_prepared_answers_take_bounded_memory() -> None:
    prepared = PreparedAnswers()
    for number in range(40):
        prepared.keep(f"/{number}", Response(200, bytes(1_000_000)), 0, "d", "r")
    assert sum(len(kept.body) for kept in prepared.by_path.values()) <= 16_000_000
    assert "/39" in prepared.by_path


def test_a_log_line_is_one_json_object() -> None:
    record = logging.makeLogRecord({"msg": "two\nlines", "levelname": "INFO", "request_id": "r"})
    line = JsonLines().format(record)
    assert "\n" not in line
    assert (json.loads(line)["message"], json.loads(line)["request_id"]) == ("two\nlines", "r")
