"""A server that answers what a test tells it to, and remembers what it was asked."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = None
    """Text is sent as it is, anything else as JSON; None is nothing."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Script:
    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    """One after the other; the last one again and again."""
    by_path: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def next(self, path: str) -> Reply:
        found = self.by_path.get(path.partition("?")[0])
        if found is not None:
            return found
        if not self.replies:
            return Reply(404, {"error_code": 404, "message": "nothing here"})
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def running_script(tls: ssl.SSLContext | None = None) -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.asked.append(Asked(self.command, self.path, headers, json.loads(content) if content else None))
            reply = script.next(self.path)
            body = reply.body if isinstance(reply.body, str) else "" if reply.body is None else json.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815  the names that the base class calls

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        script.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
