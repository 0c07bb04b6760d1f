"""Answers that go on: chunk by chunk, until they end or the client leaves."""

import asyncio
from typing import Any

from tallystick.server.http import Response


async def send(protocol: Any, response: Response, headers: list[tuple[str, str]]) -> None:
    assert response.stream is not None
    chunks = response.stream()
    transport = protocol.response_stream(response.status, headers)
    gone = asyncio.ensure_future(protocol.client_disconnect())
    following: asyncio.Future[bytes] | None = None
    try:
        while True:
            following = asyncio.ensure_future(anext(chunks, b""))
            await asyncio.wait({following, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                break
            chunk = following.result()
            if not chunk:
                break
            await transport.send_bytes(chunk)
    finally:
        gone.cancel()
        if following is not None and not following.done():
            following.cancel()
            await asyncio.wait({following})
        await chunks.aclose()  # type: ignore[attr-defined]  # streams are generators
