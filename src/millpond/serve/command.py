"""``millpond serve``: a fleet behind HTTP on one machine."""

from __future__ import annotations

import argparse
import ipaddress
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from millpond.errors import BadOption, MillpondError, MissingExtra
from millpond.fleet import Fleet
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU

GRACE = 3
"""Seconds that requests under way have when the service is told to end"""
SHORTEST_TOKEN = 16


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """The words of the command."""
    serve = commands.add_parser(
        "serve",
        parents=[common],
        help="a fleet of keyed streams behind HTTP, with a live page",
        description="Predict and learn many keyed streams over HTTP. The API is described at "
        "/openapi.json; the live page is /.",
    )
    serve.set_defaults(command=run)
    serve.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1: this machine alone")
    serve.add_argument("--port", type=int, default=8765, help="default 8765; 0 takes a free one")
    serve.add_argument(
        "--data", metavar="DIR", help="keep everything here; without it, all ends with the process"
    )
    serve.add_argument(
        "--no-sync",
        action="store_true",
        help="let the operating system write the log when it likes: faster, outlives the process but "
        "not the machine",
    )
    serve.add_argument(
        "--token-file", metavar="F", help="ask for this token; needed beyond this machine"
    )
    fleet = serve.add_argument_group("fleet")
    fleet.add_argument("--backbone", metavar="NAME", default=DEFAULT_BACKBONE)
    fleet.add_argument("--policy", metavar="NAME", default="cure")
    fleet.add_argument(
        "--tau", default=DEFAULT_TAU, help=f"in [0, 1], or auto; default {DEFAULT_TAU}"
    )
    fleet.add_argument("--budget", type=int, metavar="B", default=1000, help="default 1000")
    fleet.add_argument("--short-ratio", type=float, metavar="R", default=0.75, help="default 0.75")
    limits = serve.add_argument_group("limits")
    whole: dict[str, Any] = {"type": int, "metavar": "N"}
    limits.add_argument("--resident", **whole, default=1000, help="keys in memory; default 1000")
    limits.add_argument("--keys", **whole, default=100_000, help="keys at all; default 100000")
    limits.add_argument("--labels", **whole, default=100, help="labels of a key; default 100")
    limits.add_argument("--body", **whole, default=1_000_000, help="bytes of a request")
    limits.add_argument("--queue", **whole, default=10_000, help="operations that may wait")


def run(chosen: argparse.Namespace, errors: Console) -> int:
    """Serve until SIGTERM or Ctrl-C; then finish what was begun, within some seconds."""
    token = _token(chosen.token_file)
    if token is None and not _is_here(chosen.host):
        raise BadOption(
            f"--host {chosen.host} is reached from elsewhere: give --token-file F with a token in it"
        )
    for name in ("body", "queue"):
        if getattr(chosen, name) < 1:
            raise BadOption(f"--{name} must be at least 1, not {getattr(chosen, name)}")
    try:
        import uvicorn

        from millpond.serve.app import Limits, make_app
    except ModuleNotFoundError as error:
        raise MissingExtra("millpond serve", "serve") from error
    with _listen(chosen.host, chosen.port) as listening:
        fleet = Fleet(
            chosen.backbone,
            chosen.policy,
            chosen.budget,
            chosen.short_ratio,
            _tau(chosen.tau),
            resident=chosen.resident,
            keys=chosen.keys,
            labels=chosen.labels,
            data=chosen.data,
            sync=not chosen.no_sync,
        )
        with fleet:
            app = make_app(fleet, token=token, limits=Limits(chosen.body, chosen.queue))
            _tell(chosen, listening, fleet, token is not None, errors)
            config = uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=GRACE,
                server_header=False,
                ws="none",
            )
            with _ended_by_signals():
                uvicorn.Server(config).run(sockets=[listening])
    errors.print("ended", style="dim")
    return 0


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The server raises the signal that ended it once more when it has: here that is no failure."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(
    chosen: argparse.Namespace, listening: socket.socket, fleet: Fleet, token: bool, errors: Console
) -> None:
    """Where it listens, for machines and for people."""
    host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
    url = f"http://{host}:{listening.getsockname()[1]}"
    if chosen.json:
        told = {"url": url, "data": chosen.data, "keys": len(fleet), "token": token}
        print(json.dumps(told), flush=True)
    errors.print(f"serving {url} (the live page), {url}/openapi.json; Ctrl-C ends it", style="dim")
    if chosen.data is None:
        errors.print("nothing is kept when it ends: --data DIR keeps it", style="dim")


def _token(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as error:
        raise BadOption(f"cannot read a token from {path}: {error}") from None
    if len(token) < SHORTEST_TOKEN or not token.isprintable() or " " in token:
        raise BadOption(
            f"the token in {path} must be one word of at least {SHORTEST_TOKEN} characters; "
            "make one with: openssl rand -hex 32"
        )
    return token


def _tau(text: str) -> float | str:
    if text.startswith("auto"):
        return text
    try:
        return float(text)
    except ValueError:
        raise BadOption(f"--tau must lie in [0, 1] or be auto, not {text!r}") from None


def _is_here(host: str) -> bool:
    """Whether an address is of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port < 2**16:
        raise BadOption(f"--port must lie between 0 and 65535, not {port}")
    listening: socket.socket | None = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        if listening is not None:
            listening.close()
        raise MillpondError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listening
