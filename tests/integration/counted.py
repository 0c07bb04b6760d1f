"""A registry behind a proxy that remembers every request."""

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_KEPT = ("accept", "authorization", "content-type")


@dataclass
class Counted:
    url: str = ""
    requests: list[str] = field(default_factory=list)
    """Method and path of each, in the order in which they came."""
    connections: int = 0
    """That are open now."""

    def taken(self) -> list[str]:
        """What came since the last call."""
        taken, self.requests = self.requests, []
        return taken


@contextmanager
def counted(registry: str) -> Iterator[Counted]:
    seen, counting = Counted(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with counting:
                seen.connections += 1

        def finish(self) -> None:
            with counting:
                seen.connections -= 1
            super().finish()

        def _pass_on(self) -> None:
            seen.requests.append(f"{self.command} {self.path.partition('?')[0]}")
            body = self.rfile.read(int(self.headers.get("content-length") or 0)) or None
            headers = {name: value for name in _KEPT if (value := self.headers.get(name))}
            request = urllib.request.Request(registry + self.path, body, headers, method=self.command)
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    status, kind, content = answer.status, answer.headers.get("content-type"), answer.read()
            except urllib.error.HTTPError as e:
                with e:
                    status, kind, content = e.code, e.headers.get("content-type"), e.read()
            self.send_response(status)
            self.send_header("content-type", kind or "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _pass_on  # noqa: N815  the names that the base class calls

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        seen.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield seen
        finally:
            server.shutdown()
            thread.join()
