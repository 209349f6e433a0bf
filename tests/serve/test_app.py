"""The service's verbs are the fleet's, and whatever is sent, it answers and touches nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from millpond import Fleet
from millpond.errors import StoreError
from millpond.serve.app import Limits

Make = Any
X = {"u": 1.0, "kind": "red", "late": None}


def teach(client: TestClient, key: str = "k", rows: int = 4) -> None:
    for t in range(rows):
        answer = client.post("/v1/learn", json={"key": key, "x": [t, 1.0], "y": "ab"[t % 2]})
        assert answer.status_code == 200, answer.text


def test_predict_and_learn(client: TestClient) -> None:
    first = client.post("/v1/predict", json={"key": "k", "x": X, "id": 1})
    assert first.json() == {"label": None, "probabilities": [], "repeated": False}
    for _ in range(2):
        learned = client.post("/v1/learn", json={"key": "k", "y": "yes", "id": 1})
        assert learned.status_code == 200
    assert learned.json() == {"learned": True, "repeated": True}
    client.post("/v1/learn", json={"key": "k", "x": X, "y": True})
    again = client.post("/v1/predict", json={"key": "k", "x": X}).json()
    assert {(type(p["label"]), p["label"]) for p in again["probabilities"]} == {
        (str, "yes"),
        (bool, True),
    }
    assert sum(p["p"] for p in again["probabilities"]) == pytest.approx(1)
    assert again["label"] == "yes"  # a tie: the earlier seen


def test_answers_are_the_fleets(client: TestClient) -> None:
    with Fleet("knn", budget=20) as alone:
        for t in range(30):
            x, key = [float(t % 5), float(t % 3)], f"key {t % 2}"
            said = client.post("/v1/predict", json={"key": key, "x": x, "id": t}).json()
            expected = alone.predict_proba_one(x, key=key, id=t)
            assert {p["label"]: p["p"] for p in said["probabilities"]} == expected
            client.post("/v1/learn", json={"key": key, "y": t % 3, "id": t})
            alone.learn_one(y=t % 3, key=key, id=t)
        assert client.fleet.fingerprint() == alone.fingerprint()  # type: ignore[attr-defined]


def test_a_batch_of_both(client: TestClient) -> None:
    teach(client)
    sent = [
        {"op": "predict", "key": "k", "x": [1, 1], "id": "r"},
        {"op": "learn", "key": "k", "y": "b", "id": "r"},
        {"op": "learn", "key": "k", "y": "b", "id": "r"},
        {"op": "predict", "key": "k", "x": [1]},
        {"op": "predict", "key": "other", "x": ["red"]},
    ]
    answers = client.post("/v1/batch", json={"operations": sent}).json()["answers"]
    assert answers[0]["label"] in ("a", "b")
    assert answers[1:3] == [
        {"learned": True, "repeated": False},
        {"learned": True, "repeated": True},
    ]
    assert answers[3] == {
        "error": "this row has 1 features, the rows before it had 2",
        "status": 409,
    }
    assert answers[4] == {"label": None, "probabilities": [], "repeated": False}


def test_keys_are_listed_described_and_forgotten(client: TestClient) -> None:
    for key in ("b/c d?", "a", "ü"):
        teach(client, key)
    assert client.get("/v1/keys").json() == {
        "keys": ["a", "b/c d?", "ü"],
        "total": 3,
        "more": False,
    }
    assert client.get("/v1/keys", params={"limit": 1, "after": "a"}).json() == {
        "keys": ["b/c d?"], "total": 3, "more": True,
    }  # fmt: skip
    state = client.get("/v1/keys/b%2Fc%20d%3F").json()
    assert state["labels"] == ["a", "b"]
    assert state["operations"] == 4
    assert state["banks"]["short"] == 4
    assert client.delete("/v1/keys/a").json() == {"forgotten": True}
    for method in ("GET", "DELETE"):
        gone = client.request(method, "/v1/keys/a")
        assert gone.status_code == 404
        assert "no such key" in gone.json()["detail"]
    assert client.get("/v1/keys").json()["total"] == 2


# ---- What is refused -----------------------------------------------------------------------------

DEEP = "[" * 100_000
BAD: dict[str, tuple[Any, int]] = {
    "not JSON": (b"{", 422),
    "no UTF-8": (b'{"key": "\xff"}', 400),
    "too deep": (b'{"key": "k", "x": ' + DEEP.encode(), 400),
    "a number of too many digits": (b'{"key": "k", "x": [' + b"9" * 5000 + b"]}", 400),
    "NaN": (b'{"key": "k", "x": [NaN, 1]}', 422),
    "beyond float32": (b'{"key": "k", "x": [1e39, 1]}', 422),
    "infinite": (b'{"key": "k", "x": [1e999, 1]}', 422),
    "a lone surrogate": (b'{"key": "\\ud800", "x": [1, 1]}', 422),
    "no key": ({"x": [1, 1]}, 422),
    "an empty key": ({"key": "", "x": [1, 1]}, 422),
    "a number as key": ({"key": 1, "x": [1, 1]}, 422),
    "a long key": ({"key": "k" * 257, "x": [1, 1]}, 422),
    "an empty row": ({"key": "k", "x": []}, 422),
    "a long row": ({"key": "k", "x": [0] * 1001}, 422),
    "a nested row": ({"key": "k", "x": [[1], 1]}, 422),
    "a long category": ({"key": "k", "x": ["v" * 257, 1]}, 422),
    "an unknown field": ({"key": "k", "x": [1, 1], "weight": 2}, 422),
    "a fractional id": ({"key": "k", "x": [1, 1], "id": 0.5}, 422),
    "null": (b"null", 422),
    "another width": ({"key": "k", "x": [1]}, 409),
    "text among numbers": ({"key": "k", "x": ["red", 1]}, 409),
    "names after positions": ({"key": "k", "x": {"u": 1}}, 409),
}


@pytest.mark.parametrize(("sent", "status"), BAD.values(), ids=BAD)
def test_a_bad_request_is_answered_and_changes_nothing(
    client: TestClient, sent: Any, status: int
) -> None:
    teach(client)
    before = client.fleet.fingerprint()  # type: ignore[attr-defined]
    content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    answer = client.post(
        "/v1/predict", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["detail"]
    assert client.fleet.fingerprint() == before  # type: ignore[attr-defined]
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"key": "k", "x": [1, 1]}, 422),
        ({"key": "k", "x": [1, 1], "y": None}, 422),
        ({"key": "k", "x": [1, 1], "y": [1]}, 422),
        ({"key": "k", "y": "a"}, 409),
        ({"key": "k", "y": "a", "id": "never"}, 409),
        ({"key": "k", "x": [1, 1], "y": "third"}, 409),
    ],
)
def test_labels_that_are_refused(make: Make, sent: Any, status: int) -> None:
    client = make(labels=2)
    teach(client)
    before = client.fleet.fingerprint()
    assert client.post("/v1/learn", json=sent).status_code == status
    assert client.fleet.fingerprint() == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
SHAPED = st.fixed_dictionaries(
    {"key": st.just("victim") | JSON, "x": JSON},
    optional={"y": JSON, "id": JSON, "op": st.sampled_from(["predict", "learn"])},
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["/v1/predict", "/v1/learn", "/v1/batch"]),
    st.one_of(
        SHAPED.map(json.dumps).map(str.encode),
        st.lists(SHAPED, max_size=3).map(lambda o: json.dumps({"operations": o}).encode()),
        JSON.map(json.dumps).map(str.encode),
        st.binary(max_size=80),
    ),
)
def test_no_request_ends_it_or_touches_another_key(
    client: TestClient, path: str, content: bytes
) -> None:
    fleet: Fleet = client.fleet  # type: ignore[attr-defined]
    if "safe key" not in fleet:
        teach(client, "safe key")
    before = fleet.fingerprint("safe key")
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400, 409, 422), answer.text
    if answer.status_code != 200:
        assert list(answer.json()) == ["detail"]
    assert fleet.fingerprint("safe key") == before
    assert client.get("/health").json()["status"] == "ok"


def test_limits(make: Make) -> None:
    client = make(limits=Limits(body=1000, queue=3), keys=1)
    teach(client)
    long = client.post("/v1/predict", json={"key": "k", "x": ["v" * 100] * 20})
    assert long.status_code == 413
    chunks = (b"x" * 100 for _ in range(20))
    in_parts = client.post(
        "/v1/predict", content=chunks, headers={"content-type": "application/json"}
    )
    assert in_parts.status_code == 413
    assert "1,000 bytes" in in_parts.json()["detail"]
    another = client.post("/v1/predict", json={"key": "other", "x": [1]})
    assert another.status_code == 429
    assert another.headers["retry-after"] == "1"
    text = client.post("/v1/predict", content="{}", headers={"content-type": "text/plain"})
    assert text.status_code == 415
    assert client.get("/v1/keys", params={"limit": 0}).status_code == 422


def test_tokens(make: Make) -> None:
    token = "a token that nobody guesses".replace(" ", "-")
    client = make(token=token)
    sent = {"key": "k", "x": [1.0]}
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {token}"}):
        for method, path in (
            ("POST", "/v1/predict"), ("POST", "/v1/batch"), ("GET", "/v1/keys"), ("GET", "/v1/live"),
            ("GET", "/v1/keys/k"), ("DELETE", "/v1/keys/k"), ("GET", "/metrics"),
        ):  # fmt: skip
            refused = client.request(method, path, json=sent, headers=headers)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
    right = {"authorization": f"Bearer {token}"}
    assert client.post("/v1/predict", json=sent, headers=right).status_code == 200
    assert client.get("/health", headers={"host": "elsewhere.example"}).status_code == 200
    assert client.get("/").status_code == 200


def test_without_a_token_it_speaks_to_this_machine_alone(client: TestClient) -> None:
    for host in ("localhost:8765", "127.0.0.1", "[::1]:1"):
        assert client.get("/health", headers={"host": host}).status_code == 200
    assert client.get("/health", headers={"host": "evil.example:8765"}).status_code == 400


def test_a_store_that_fails(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make(data=tmp_path / "data")
    teach(client)
    before = client.fleet.fingerprint()
    with monkeypatch.context() as patched:

        def full() -> None:
            raise StoreError("the disk is full")

        patched.setattr(client.fleet._store, "commit", full)
        answer = client.post("/v1/learn", json={"key": "k", "x": [1, 1], "y": "a"})
        assert (answer.status_code, answer.json()) == (503, {"detail": "the disk is full"})
    assert client.fleet.fingerprint() == before
    teach(client)
    client.fleet.close()
    assert client.get("/health").status_code == 503
    assert client.post("/v1/predict", json={"key": "k", "x": [1, 1]}).status_code == 503


# ---- What is told --------------------------------------------------------------------------------


def test_metrics_are_of_prometheus_form(client: TestClient) -> None:
    teach(client)
    client.post("/v1/predict", json={"key": "k", "x": [1]})
    found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    values = {}
    for line in found.text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
    assert values['millpond_operations_total{verb="learn",outcome="done"}'] == 4
    assert values['millpond_operations_total{verb="predict",outcome="refused"}'] == 1
    assert values['millpond_responses_total{status="409"}'] == 1
    assert values["millpond_keys"] == values["millpond_keys_resident"] == 1
    assert values["millpond_request_seconds_count"] == 5
    assert values['millpond_request_seconds_bucket{le="+Inf"}'] == 5


def test_the_live_view(client: TestClient) -> None:
    teach(client, rows=2)
    for t in range(20):
        client.post("/v1/predict", json={"key": "k", "x": [t % 2, 1], "id": t})
        client.post("/v1/learn", json={"key": "k", "y": "ab"[t % 2], "id": t})
    live = client.get("/v1/live").json()
    (key,) = live["keys"]
    assert key["key"] == "k"
    assert (key["predictions"], key["labels"], live["scored"]) == (20, 22, 20)
    assert key["points"][-1] == [20, key["recent"]]
    assert live["accuracy"] == key["accuracy"] > 0.5
    assert sum(key["banks"]["long_by_class"]) == key["banks"]["long"]
    assert live["memory"]["keys"] == 1
    assert live["latency"]["p50"] > 0


def test_the_description(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/v1/predict", "/v1/learn", "/v1/batch", "/v1/keys", "/v1/keys/{key}", "/v1/live", "/metrics",
        "/health", "/",
    }  # fmt: skip
    assert "HTTPValidationError" not in json.dumps(described)
    post = described["paths"]["/v1/predict"]["post"]
    assert {"409", "413", "415", "422", "429", "503"} < set(post["responses"])
    wrong = client.options("/v1/keys/k")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "DELETE, GET")


def test_the_page_asks_nobody_else(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http://" not in page.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page.text
