"""Schemathesis against the service and its own description finds nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from served import served


@pytest.mark.long
@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None, reason="schemathesis is not installed"
)
@pytest.mark.parametrize("token", [None, "0123456789abcdef"])
def test_the_description_holds(tmp_path: Path, token: str | None) -> None:
    with served(token) as url:
        words = ["run", f"{url}/openapi.json", "--max-time", "60"]
        if token is not None:
            words += ["--header", f"Authorization: Bearer {token}"]
        done = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", *words],
            capture_output=True, text=True, timeout=600, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
