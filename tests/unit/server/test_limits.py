"""A request that takes too long is answered all the same."""

import asyncio
import threading
from typing import ClassVar

from tallystick.server.app import App, HttpLimits, Mount, Nobody
from tallystick.server.dialect import Dialect
from tallystick.server.dialects.openschema import problem
from tallystick.server.http import Request, Response
from tallystick.server.prepared import PreparedAnswers
from tallystick.server.routing import Operation, Route


class Scope:
    method, path, query_string, client = "GET", "/slow", "", "127.0.0.1:1"
    headers: ClassVar[dict[str, str]] = {}


class Answers:
    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.body = status, body


def test_a_slow_request_is_a_503_with_the_code_of_a_time_out() -> None:
    go_on = threading.Event()

    def slow(request: Request) -> Response:
        go_on.wait(10)
        return Response()

    dialect = Dialect("slow", "Slow", (Route("GET", "/slow", slow, Operation("Slow.")),), problem)
    app = App([Mount("", dialect)], Nobody(), PreparedAnswers(), limits=HttpLimits(request_seconds=0.05))
    answers = Answers()
    asyncio.run(app.__rsgi__(Scope(), answers))
    go_on.set()
    app.close()
    assert answers.status == 503
    assert b'"errorCode":50002' in answers.body
