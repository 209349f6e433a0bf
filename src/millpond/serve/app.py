"""The routes: predict, learn, batches of both, keys, health, metrics, and the live page."""

from __future__ import annotations

import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException as AnyHTTPException

from millpond._version import __version__
from millpond.errors import BadInput, MillpondError, StoreError, TooMany
from millpond.fleet import Answer, Fleet, Operation
from millpond.serve import messages as m
from millpond.serve import metrics, page
from millpond.serve.desk import Desk
from millpond.serve.guard import Guard
from millpond.serve.watch import Watch

DESCRIPTION = (
    """Frozen tabular foundation models that learn from many data streams: one for each key."""
)
SHOWN = 40
"""Keys on the live page"""
BEARER = HTTPBearer(auto_error=False, description="the token of --token-file")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
InUrl = Annotated[str, InPath(min_length=1, max_length=m.NAME)]
_WHAT = {
    400: "not to be read as a request",
    401: "the token is missing or wrong",
    404: "there is no such key",
    409: "it does not fit what the key has learned, or its id came before with something else",
    413: "the body is too large",
    415: "the body is not JSON",
    422: "the request is not of the form described here",
    429: "a limit is reached: of keys, of labels, or of operations that wait",
    503: "the store failed: nothing was applied",
}


@dataclass(frozen=True)
class Limits:
    """What the service takes at a time."""

    body: int = 1_000_000
    """bytes of a request"""
    queue: int = 10_000
    """operations that wait"""


def make_app(fleet: Fleet, *, token: str | None, limits: Limits | None = None) -> Guard:
    """The service as an ASGI app; it closes the fleet when it ends."""
    limits = limits or Limits()
    watch = Watch()
    desk = Desk(fleet, limits.queue, watch.batch)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        await desk.close()
        fleet.close()

    app = FastAPI(
        title="millpond",
        version=__version__,
        description=DESCRIPTION,
        lifespan=life,
        docs_url=None,  # both would load scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(AnyHTTPException, _http_error)
    app.add_exception_handler(MillpondError, _refused)
    _describe_errors(app)
    app.include_router(_routes(fleet, desk, watch, token))
    app.include_router(_open_routes(fleet))
    return Guard(app, most_bytes=limits.body, only_here=token is None)


# -- what goes wrong ----------------------------------------------------------------------------


def status_of(error: MillpondError) -> int:
    if isinstance(error, TooMany):
        return 429
    return 409 if isinstance(error, BadInput) else 503


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MillpondError)
    status = status_of(error)
    headers = {"Retry-After": "1"} if status in (429, 503) else None
    return JSONResponse({"detail": str(error)}, status, headers)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AnyHTTPException)
    headers = error.headers
    if error.status_code == 405:
        headers = {"Allow": ", ".join(_methods(request.app.openapi(), request.url.path))}
    return JSONResponse({"detail": str(error.detail)}, error.status_code, headers)


def _methods(description: dict[str, Any], path: str) -> list[str]:
    """Of all routes that a path has; the framework names those of the first."""
    for template, methods in description["paths"].items():
        start, brace, _ = template.partition("{")
        if path == template or (brace and path.startswith(start)):
            return sorted(map(str.upper, methods))
    return []


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """One sentence on the first thing that is wrong; what was sent is not sent back."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if isinstance(part, str | int))
    return JSONResponse({"detail": f"{where[:200]}: {first['msg']}"[:500]}, 422)


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": m.Problem, "description": _WHAT[status]} for status in statuses}


def _describe_errors(app: FastAPI) -> None:
    """The description as FastAPI makes it, with our one form of errors instead of its own."""
    made = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = made()
            for name in ("HTTPValidationError", "ValidationError"):
                schema.get("components", {}).get("schemas", {}).pop(name, None)
        return app.openapi_schema or made()

    app.openapi = described  # type: ignore[method-assign]


# -- routes -------------------------------------------------------------------------------------


class _Timed(APIRoute):
    """A route whose requests are counted and timed."""

    watch: Watch

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        handle = super().get_route_handler()
        watch = self.watch

        async def timed(request: Request) -> Response:
            begin, status = time.perf_counter(), 500
            try:
                response = await handle(request)
                status = response.status_code
            except MillpondError as error:
                status = status_of(error)
                raise
            except RequestValidationError:
                status = 422
                raise
            except AnyHTTPException as error:
                status = error.status_code
                raise
            finally:
                watch.request(time.perf_counter() - begin, status)
            return response

        return timed


def _routes(fleet: Fleet, desk: Desk, watch: Watch, token: str | None) -> APIRouter:
    """What a token is needed for, where there is one."""
    timed = type("Timed", (_Timed,), {"watch": watch})
    everywhere = _responses(400, 401) if token is not None else _responses(400)
    guards = [] if token is None else [Depends(_check_token(token))]
    router = APIRouter(dependencies=guards, responses=everywhere)
    asking = APIRouter(route_class=timed, responses=_responses(409, 413, 415, 422, 429, 503))

    @asking.post("/v1/predict", summary="Predict a row")
    async def predict(body: m.Predict) -> m.Predicted:
        return _predicted(await _ask(desk, body.operation()))

    @asking.post("/v1/learn", summary="Learn a label")
    async def learn(body: m.Learn) -> m.Learned:
        return m.Learned(repeated=(await _ask(desk, body.operation())).repeated)

    @asking.post("/v1/batch", summary="Predict and learn, of any keys, in one commit")
    async def batch(body: m.Batch) -> m.Batched:
        operations = [each.operation() for each in body.operations]
        answers = await desk.ask(operations)
        return m.Batched(answers=[_said(*each) for each in zip(operations, answers, strict=True)])

    router.include_router(asking)

    @router.get(
        "/v1/keys", summary="The keys, in the order of their names", responses=_responses(422)
    )
    async def keys(
        after: Annotated[str, Query(max_length=m.NAME, description="only keys behind this")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> m.Keys:
        known = sorted(key for key in await desk.call(fleet.keys) if isinstance(key, str))
        behind = [key for key in known if key > after]
        return m.Keys(keys=behind[:limit], total=len(known), more=len(behind) > limit)

    @router.get(
        "/v1/keys/{key:path}", summary="What a key holds", responses=_responses(404, 422, 503)
    )
    async def key_state(key: InUrl) -> m.KeyState:
        if key not in fleet:
            raise HTTPException(404, "there is no such key: nothing was asked of it")
        return m.KeyState(key=key, **await desk.call(fleet.describe, key))

    @router.delete(
        "/v1/keys/{key:path}", summary="Forget a key", responses=_responses(404, 422, 503)
    )
    async def forget(key: InUrl) -> m.Forgotten:
        if key not in fleet:
            raise HTTPException(404, "there is no such key: nothing was asked of it")
        await desk.call(fleet.forget, key)
        watch.forget(key)
        return m.Forgotten()

    @router.get("/v1/live", summary="How the fleet is doing: what the live page shows")
    async def live() -> dict[str, Any]:
        return await _live(fleet, desk, watch)

    @router.get(
        "/metrics",
        summary="The same for Prometheus",
        response_class=PlainTextResponse,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def prometheus() -> Response:
        memory = await desk.call(fleet.memory)
        content = metrics.text(watch, memory, desk.waiting)
        return Response(content, media_type=metrics.CONTENT_TYPE)

    return router


def _open_routes(fleet: Fleet) -> APIRouter:
    """What needs no token."""
    router = APIRouter(responses=_responses(400))

    @router.get("/health", summary="Whether it takes operations", responses=_responses(503))
    async def health() -> m.Health:
        if fleet.problem is not None:
            raise StoreError(f"this fleet takes no more: {fleet.problem}")
        return m.Health(status="ok", version=__version__, keys=len(fleet), about=fleet.about)

    @router.get("/", summary="The live page", response_class=HTMLResponse)
    async def live_page() -> HTMLResponse:
        return HTMLResponse(page.text(), headers=page.HEADERS)

    return router


def _check_token(token: str) -> Callable[..., None]:
    def check(given: Credentials) -> None:
        sent = b"" if given is None else given.credentials.encode()
        if not hmac.compare_digest(sent, token.encode()):
            what = "missing" if given is None else "not the right one"
            raise HTTPException(
                401,
                f"the token is {what}: send Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )

    return check


# -- answers ------------------------------------------------------------------------------------


async def _ask(desk: Desk, operation: Operation) -> Answer:
    (answer,) = await desk.ask([operation])
    if isinstance(answer, MillpondError):
        raise answer
    return answer


def _predicted(answer: Answer) -> m.Predicted:
    return m.Predicted.model_construct(
        label=answer.label,
        probabilities=[
            m.Probability.model_construct(label=label, p=p)
            for label, p in answer.probabilities.items()
        ],
        repeated=answer.repeated,
    )


def _said(
    operation: Operation, answer: Answer | MillpondError
) -> m.Predicted | m.Learned | m.Refused:
    if isinstance(answer, MillpondError):
        return m.Refused(error=str(answer), status=status_of(answer))
    return m.Learned(repeated=answer.repeated) if operation.verb == "learn" else _predicted(answer)


async def _live(fleet: Fleet, desk: Desk, watch: Watch) -> dict[str, Any]:
    memory = await desk.call(fleet.memory)
    shown = watch.keys()[:SHOWN]
    banks = await desk.call(fleet.banks, [key for key, _ in shown])
    predictions, labels = watch.rates()
    p50, p99 = watch.requests.quantiles(0.5, 0.99)
    return {
        "about": fleet.about,
        "seconds": round(time.time() - watch.began, 1),
        "memory": memory,
        "waiting": desk.waiting,
        "rates": {"predictions": predictions, "labels": labels},
        "latency": {"p50": p50, "p99": p99},
        "accuracy": watch.right / watch.scored if watch.scored else None,
        "scored": watch.scored,
        "drifts": watch.drifts,
        "history": watch.history(),
        "keys": [
            {
                "key": key,
                "predictions": seen.predictions,
                "labels": seen.labels,
                "accuracy": seen.right / seen.scored if seen.scored else None,
                "recent": seen.recent if seen.scored else None,
                "points": seen.points,
                "drifts": seen.drifts,
                "banks": held,
            }
            for (key, seen), held in zip(shown, banks, strict=True)
        ],
    }
