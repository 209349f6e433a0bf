"""A small web server on this machine, with the habits of servers that a download must survive."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Site:
    """What the server sends; `ranges` as it received them."""

    url: str = ""
    content: bytes = b""
    habit: str = (
        "ranges"  # or: no ranges, no length, breaks off, stalls, wrong place, 404, not http
    )
    breaks_after: int = 0
    ranges: list[str | None] = field(default_factory=list)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    site = Site()
    done = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            site.ranges.append(wanted)
            content, begin = site.content, 0
            if site.habit == "404":
                self.send_error(404)
                return
            if site.habit == "not http":
                self.wfile.write(b"hello\r\n\r\n")
                return
            if wanted and site.habit != "no ranges":
                begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if begin >= len(content):
                    self.send_error(416)
                    return
                told = begin - 1 if site.habit == "wrong place" else begin
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {told}-{len(content) - 1}/{len(content)}")
            else:
                self.send_response(200)
            if site.habit != "no length":
                self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            if site.habit in ("breaks off", "stalls"):
                self.wfile.write(content[begin : site.breaks_after])
                if site.habit == "stalls":
                    done.wait(10)
            else:
                self.wfile.write(content[begin:])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/file"
    yield site
    done.set()
    server.shutdown()
    server.server_close()
    thread.join()
