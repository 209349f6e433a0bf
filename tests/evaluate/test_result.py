"""A result: its facts as JSON, and what its properties name."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from millpond import Result, prequential
from millpond.errors import CheckpointError, MillpondError
from millpond.evaluate.result import finite, predictions_digest, read_facts
from slow_loop import made_stream


@pytest.fixture(scope="module")
def result() -> Result:
    made: Result = prequential(made_stream(1, 150), budget=20, warmup=50)
    return made


def test_json_and_back(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    result.to_json(path)
    assert read_facts(path) == result.facts
    result.to_json(str(path))
    strict = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert strict == result.facts
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_properties_name_parts_of_the_facts(result: Result) -> None:
    right = result.predictions[50:] == made_stream(1, 150).y[50:]
    assert result.accuracy == result.facts["accuracy"] == right.mean()
    assert (result.rows, result.scored, result.unscored) == (150, 100, 50)
    assert result.metrics["accuracy"] == result.accuracy
    assert result.floors.keys() == {"nochange", "majority", "successor", "period"}
    assert result.seconds.keys() == {"fit", "predict", "evict", "total", "wall"}
    assert result.resumed_from is None
    result.metrics.clear()
    result.seconds.clear()
    assert result.metrics
    assert result.seconds


def test_the_contracts_keys_are_at_the_top(result: Result) -> None:
    keys = ("accuracy", "scored", "unscored", "rows", "resumed_from", "predictions_sha256")
    assert list(result.facts)[: len(keys)] == list(keys)


def test_the_digest_is_of_little_endian_codes(result: Result) -> None:
    codes = b"".join(int(p).to_bytes(4, "little", signed=True) for p in result.predictions)
    assert result.facts["predictions_sha256"] == hashlib.sha256(codes).hexdigest()
    big = result.predictions.astype(">i4")
    assert predictions_digest(big) == result.facts["predictions_sha256"]


def test_what_json_does_not_have_becomes_null() -> None:
    given = {"a": [math.nan, np.float32(0.5)], "b": (np.int64(3), -math.inf), "c": {"d": "x"}}
    assert finite(given) == {"a": [None, 0.5], "b": [3, None], "c": {"d": "x"}}
    json.dumps(finite(given), allow_nan=False)


def test_a_result_that_cannot_be_written(result: Result, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot write"):
        result.to_json(tmp_path / "no folder" / "result.json")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", None])
def test_a_result_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "result.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MillpondError, match=r"result\.json cannot be read"):
        read_facts(path)
