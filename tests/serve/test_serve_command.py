"""``millpond serve`` as a process: it listens, keeps what it acknowledged, ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from millpond.cli import main

TOKEN = "0123456789abcdef"


@contextmanager
def service(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "millpond", "serve", "--port", "0", "--budget", "20", "--json"]
    with subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            assert told, "it did not start"
            yield process, json.loads(told)["url"]
        finally:
            process.kill()


def post(url: str, path: str, content: Any) -> Any:
    answer = httpx.post(f"{url}/v1/{path}", json=content, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_it_acknowledged_is_there_when_it_starts_again(tmp_path: Path, sent: int) -> None:
    with service("--data", str(tmp_path)) as (process, url):
        for t in range(10):
            post(url, "learn", {"key": "k", "x": [t, 1], "y": t % 2, "id": t})
        before = post(url, "predict", {"key": "k", "x": [3, 1], "id": "last"})
        process.send_signal(sent)
        assert process.wait(timeout=60) == (0 if sent != signal.SIGKILL else -sent)
    with service("--data", str(tmp_path)) as (_, url):
        assert post(url, "predict", {"key": "k", "x": [3, 1], "id": "last"}) == {
            **before,
            "repeated": True,
        }
        assert httpx.get(f"{url}/v1/keys/k", timeout=60).json()["operations"] == 11


def test_requests_under_way_are_answered_before_it_ends(tmp_path: Path) -> None:
    """Told to end in the middle of a load: every answer was an acknowledgement, and none is lost."""
    acknowledged: list[int] = []
    with service("--data", str(tmp_path)) as (process, url):

        def feed(first: int) -> None:
            with httpx.Client(timeout=60) as client:
                for t in range(first, 100_000, 4):
                    try:
                        sent = {"key": f"k{t % 3}", "x": [t], "y": 1, "id": t}
                        answer = client.post(f"{url}/v1/learn", json=sent)
                    except httpx.TransportError:
                        return
                    if answer.status_code != 200:
                        return
                    acknowledged.append(t)

        threads = [threading.Thread(target=feed, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 40:
            time.sleep(0.05)
        process.terminate()
        assert process.wait(timeout=60) == 0
        for thread in threads:
            thread.join()
    with service("--data", str(tmp_path)) as (_, url):
        total = sum(
            httpx.get(f"{url}/v1/keys/k{k}", timeout=60).json()["operations"] for k in range(3)
        )
        assert len(acknowledged) <= total <= len(acknowledged) + 4
        last = acknowledged[-1]
        again = {"key": f"k{last % 3}", "x": [last], "y": 1, "id": last}
        assert post(url, "learn", again)["repeated"]


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    with service("--token-file", str(tmp_path / "token"), "--host", "0.0.0.0") as (_, url):
        url = url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{url}/v1/keys", timeout=60).status_code == 401
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{url}/v1/keys", headers=headers, timeout=60).json()["total"] == 0


WRONG: dict[str, tuple[list[str], str, int]] = {
    "elsewhere without a token": (["--host", "0.0.0.0"], "give --token-file", 2),
    "no token file": (["--token-file", "nowhere"], "cannot read a token", 2),
    "a short token": (["--token-file", "short"], "at least 16 characters", 2),
    "a port": (["--port", "70000"], "between 0 and 65535", 2),
    "a limit": (["--queue", "0"], "--queue must be at least 1", 2),
    "a number of keys": (["--resident", "0"], "resident must be a whole number", 2),
    "tau": (["--tau", "much"], "--tau must lie in [0, 1]", 2),
    "a backbone": (["--backbone", "nil"], "unknown backbone", 2),
    "an address of another": (
        ["--host", "203.0.113.1", "--token-file", "long"],
        "cannot listen",
        1,
    ),
    "a file as folder": (["--data", "long"], "cannot use", 1),
}


@pytest.mark.parametrize(("words", "says", "code"), WRONG.values(), ids=WRONG)
def test_wrong_use(
    words: list[str],
    says: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("abc")
    Path("long").write_text(TOKEN)
    port = [] if "--port" in words else ["--port", "0"]
    assert main(["serve", *port, *words]) == code
    found = capsys.readouterr()
    assert says in found.err
    assert not found.out


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "--port", "0"]) == 1
    assert "pip install 'millpond[serve]'" in capsys.readouterr().err


def test_the_environment_is_not_needed() -> None:
    """The page is found wherever the package is."""
    code = "from millpond.serve import page; assert 'millpond' in page.text()"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ), cwd="/")
