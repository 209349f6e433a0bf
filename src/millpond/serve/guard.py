"""Who and what is let in, before anything is read: hosts, sizes and content types, in plain ASGI.

Without a token the service listens on this machine alone, and then two more things are asked of a
request, so that a page in somebody's browser cannot speak to it: that it names this machine as its host,
and that what it sends is declared to be JSON, which browsers ask permission for.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HERE = ("localhost", "127.0.0.1", "[::1]")


class Guard:
    """Lets requests through to an app, with their bodies read up to a limit."""

    def __init__(self, app: App, *, most_bytes: int, only_here: bool) -> None:
        self._app, self._most, self._only_here = app, most_bytes, only_here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if self._only_here and _host(headers.get(b"host", "")) not in HERE:
            await _refuse(send, 400, f"this service answers to {', '.join(HERE)} only")
            return
        body = await self._body(headers, receive)
        if body is None:
            await _refuse(send, 413, f"a body may have {self._most:,} bytes: send it in parts")
            return
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if body and kind != "application/json":
            await _refuse(send, 415, "send JSON, as content type application/json")
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, read, send)

    async def _body(self, headers: dict[bytes, str], receive: Receive) -> bytes | None:
        """All of it, or None if it is too long."""
        declared = headers.get(b"content-length", "0")
        if declared.isdecimal() and int(declared) > self._most:
            return None
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most:
                return None
            more = message.get("more_body", False)
        return b"".join(parts)


def _host(header: str) -> str:
    """Without its port."""
    if header.startswith("["):
        return header.partition("]")[0] + "]"
    return header.partition(":")[0].lower()


async def _refuse(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 413:  # what is left of the body is not read
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
