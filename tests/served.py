"""The service on a free port of this machine, in a thread of the test's process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from millpond import Fleet
from millpond.serve.app import make_app


@contextmanager
def served(token: str | None) -> Iterator[str]:
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(Fleet("knn", budget=20), token=token), port=0, log_level="error", ws="none"
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
