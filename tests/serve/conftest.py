"""The service in this process, spoken to without a network; skipped where its extra is not."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("httpx", reason="needs httpx")
pytest.importorskip("uvicorn", reason="needs the extra serve")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # newer versions would rather have another client
    from starlette.testclient import TestClient

from millpond.fleet import Fleet
from millpond.serve.app import Limits, make_app

Make = Callable[..., TestClient]


@pytest.fixture
def make() -> Iterator[Make]:
    """A service with options of the fleet, of `Limits`, and a token."""
    with ExitStack() as open:

        def made(token: str | None = None, limits: Limits | None = None, **options: Any) -> Any:
            fleet = Fleet("knn", **{"budget": 20, **options})
            app = make_app(fleet, token=token, limits=limits)
            client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
            client.fleet = fleet  # type: ignore[attr-defined]
            return open.enter_context(client)

        yield made


@pytest.fixture
def client(make: Make) -> TestClient:
    return make()
