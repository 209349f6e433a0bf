"""A web server on this machine that stands in for a package index and a hub; a folder of one's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fake_web import Web

from millpond.backbones.published.catalogue import NAMES, entry


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append((self.path, self.headers["Authorization"]))
            if self.path in web.moved:
                self.send_response(302)
                self.send_header("Location", web.moved[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if self.path in web.refused or self.path not in web.pages:
                self.send_error(web.refused.get(self.path, 404))
                return
            content, begin = web.pages[self.path], 0
            wanted = self.headers["Range"]
            if wanted:
                begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header(
                    "Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}"
                )
            else:
                self.send_response(200)
            self.send_header("Content-Type", web.kind)
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            self.wfile.write(content[begin : web.cut])

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    web.url = f"http://127.0.0.1:{server.server_port}"
    yield web
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No weights are on this machine; the data folder is this empty one."""
    for name in NAMES:
        monkeypatch.delenv(entry(name).variable, raising=False)
    for variable in (
        "HF_HOME",
        "HF_HUB_CACHE",
        "HF_TOKEN",
        "HF_ENDPOINT",
        "TABPFN_MODEL_CACHE_DIR",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MILLPOND_LIMIX_CODE", str(tmp_path))
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("MILLPOND_DATA", str(folder))
    return folder
