"""The least that our HTTP server can do: one line that answers every request with the same bytes.

`python -m bench.bare_server PORT`
"""

import asyncio
import signal
import sys
from typing import Any

import uvloop
from granian.constants import Interfaces
from granian.server.embed import Server

_BODY = b'{"schema":"' + b"x" * 280 + b'"}'
_HEADERS = [("content-type", "application/json")]


async def _answer(scope: Any, protocol: Any) -> None:
    protocol.response_bytes(200, _HEADERS, _BODY)


async def _serve(port: int) -> None:
    server = Server(_answer, address="127.0.0.1", port=port, interface=Interfaces.RSGI, log_enabled=False)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, server.stop)
    await server.serve()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1])))
