"""The backbone as users meet it: by name, through the classifier and the prequential loop."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from rill_random import write_weights

from millpond import StreamClassifier, load_stream, prequential
from millpond.backbones import get_backbone
from millpond.backbones.rill import Rill
from millpond.errors import BadOption, DataMissing
from millpond.evaluate.prequential import Interrupted


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weights(tmp_path_factory.mktemp("weights") / "weights.npz")


def test_it_has_its_name_and_takes_a_file(weights: Path) -> None:
    assert get_backbone("rill", weights=weights).name == "rill"
    assert get_backbone("rill", weights=str(weights)).name == "rill"


def test_without_packaged_weights_it_says_what_to_do(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("millpond.backbones.rill.PACKAGED", tmp_path / "weights.npz")
    with pytest.raises(DataMissing, match=r"no Rill weights at .* name a file with weights="):
        Rill()


def test_a_file_that_is_not_weights_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not weights")
    with pytest.raises(BadOption, match=r"notes\.txt cannot be read as a Rill weights file"):
        get_backbone("rill", weights=path)


def test_weights_are_read_once_as_long_as_the_file_stays(tmp_path: Path) -> None:
    path = write_weights(tmp_path / "weights.npz")
    first, again = Rill(weights=path), Rill(weights=path)
    assert first._network is again._network
    write_weights(path, seed=1)
    os.utime(path, ns=(1, 1))
    assert Rill(weights=path)._network.sha256 != first._network.sha256


def test_a_classifier_takes_names_keys_and_missing_features(weights: Path) -> None:
    classifier = StreamClassifier(backbone="rill", weights=weights, policy="cure", budget=20)
    assert classifier.predict_proba_one({"a": 1.0, "b": 2.0}) == {}
    for t in range(50):
        row = {"a": float(t % 7), "b": float(t % 2)} if t % 5 else {"a": float(t % 7)}
        classifier.predict_one(row, key=t)
        if t >= 3:
            classifier.learn_one(y="high" if t % 2 else "low", key=t - 3)
    proba = classifier.predict_proba_one({"b": 1.0})
    assert set(proba) == {"high", "low"}
    assert sum(proba.values()) == pytest.approx(1)
    many = classifier.predict_proba(np.arange(40.0).reshape(20, 2))
    assert many.shape == (20, 2)
    assert many.sum(axis=1) == pytest.approx(np.ones(20))


@pytest.mark.parametrize(
    ("options", "chunks"), [({}, 150), ({"chunk": 5, "delay": 7, "missing": 0.2}, 35)]
)
def test_a_resumed_run_is_the_uninterrupted_one(
    weights: Path, tmp_path: Path, options, chunks
) -> None:
    """Stopped when its context has been full for long and rows come and go in any slot."""
    stream = [load_stream("agr_a").head(260), load_stream("agr_a").head(200)]
    options = options | {"backbone": "rill", "weights": str(weights), "budget": 30, "tau": 0.2}
    whole = prequential(stream, **options)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked == chunks

    with pytest.raises(Interrupted):
        prequential(stream, **options, out=tmp_path, stop=stop)
    resumed = prequential(stream, **options, out=tmp_path, resume=True)
    for a, b in zip(whole, resumed, strict=True):
        assert b.facts["resumed_from"] > 0
        assert a.facts["predictions_sha256"] == b.facts["predictions_sha256"]
