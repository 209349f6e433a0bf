"""TabPFN-v1 against the original library's recorded answers, its network against torch's own layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="TabPFN-v1 runs on torch")

from tabpfn_v1_cases import CONFIG, TINY, save_tiny, tables, tiny_state  # noqa: E402

from millpond.backbones import get_backbone  # noqa: E402
from millpond.backbones.published import weights  # noqa: E402
from millpond.backbones.published.catalogue import entry  # noqa: E402
from millpond.backbones.published.device import Place  # noqa: E402
from millpond.backbones.published.tables import Table  # noqa: E402
from millpond.backbones.published.tabpfn_v1 import Model  # noqa: E402
from millpond.errors import BadInput  # noqa: E402
from millpond.learner import ContextLearner  # noqa: E402

CLOSE = 1e-5
"""float32 in another order of operations"""
RECORDED = np.load(Path(__file__).with_name("tabpfn_v1_recorded.npz"))
CASES = {
    name: Table(case["X"], case["y"], case["queries"], int(case["y"].max()) + 1)
    for name, case in tables().items()
}


@pytest.fixture(scope="module")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("weights") / "tiny.cpkt")


@pytest.fixture(scope="module")
def tiny(tiny_file: Path) -> Model:
    return Model(tiny_file, Place("cpu", "float32"))


@pytest.fixture(scope="module")
def released() -> Model:
    found = weights.find(entry("tabpfn_v1"))
    if found is None:
        pytest.skip("the released weights are not here: millpond backbones get tabpfn_v1")
    return Model(found.path, Place("cpu", "float32"))


def asked(model: Model, *chosen: Table) -> list[Any]:
    return model.probabilities(list(chosen))


@pytest.mark.parametrize("case", CASES)
def test_answers_as_the_original_does_with_a_small_network(tiny: Model, case: str) -> None:
    (found,) = asked(tiny, CASES[case])
    assert np.abs(found - RECORDED[f"tiny: {case}"]).max() < CLOSE


@pytest.mark.parametrize("case", CASES)
def test_answers_as_the_original_does_with_its_weights(released: Model, case: str) -> None:
    (found,) = asked(released, CASES[case])
    assert np.abs(found - RECORDED[f"released: {case}"]).max() < CLOSE


def test_the_network_is_a_plain_post_norm_transformer(tiny: Model) -> None:
    """torch's own encoder layers, with a mask that leaves only the context to be attended to."""
    width, rows, k = TINY["emsize"], 30, 4
    layers = [
        torch.nn.TransformerEncoderLayer(
            width,
            TINY["nhead"],
            width * TINY["nhid_factor"],
            dropout=0.0,
            activation="gelu",
            batch_first=True,
        ).eval()
        for _ in range(TINY["nlayers"])
    ]
    state = {name.removeprefix("module."): value for name, value in tiny_state().items()}
    for i, layer in enumerate(layers):
        prefix = f"transformer_encoder.layers.{i}."
        layer.load_state_dict(
            {name.removeprefix(prefix): v for name, v in state.items() if name.startswith(prefix)}
        )
    torch.manual_seed(0)
    X, y = torch.randn(2, rows + k, CONFIG["num_features"]), torch.randint(0, 3, (2, rows)).float()
    x = X @ state["encoder.weight"].T + state["encoder.bias"]
    x[:, :rows] += y[..., None] @ state["y_encoder.weight"].T + state["y_encoder.bias"]
    hidden_keys = torch.zeros(rows + k, rows + k, dtype=torch.bool)
    hidden_keys[:, rows:] = True
    with torch.no_grad():
        for layer in layers:
            x = layer(x, src_mask=hidden_keys)
        x = torch.nn.functional.gelu(x @ state["decoder.0.weight"].T + state["decoder.0.bias"])
        x = x @ state["decoder.2.weight"].T + state["decoder.2.bias"]
        found = tiny.network(X, y)
    assert (found - x[:, rows:]).abs().max() < 1e-5


def test_queries_together_are_as_one_by_one(tiny: Model) -> None:
    table = CASES["10 classes, d 27"]
    (together,) = asked(tiny, table)
    for i, row in enumerate(together):
        alone = Table(table.X, table.y, table.queries[i : i + 1], table.classes)
        assert np.abs(asked(tiny, alone)[0] - row).max() < 1e-6


def test_lanes_together_are_as_one_by_one(tiny: Model) -> None:
    """Of equal and of other lengths; how many columns vary and how many classes there are differs."""
    chosen = [
        Table(np.pad(t.X, room)[:rows], t.y[:rows], np.pad(t.queries, room), t.classes)
        for t in CASES.values()
        for rows in (40, 90)
        if (room := ((0, 0), (0, 100 - t.X.shape[1])))
    ]
    together = asked(tiny, *chosen)
    for table, found in zip(chosen, together, strict=True):
        assert found.shape == (len(table.queries), table.classes)
        assert np.abs(asked(tiny, table)[0] - found).max() < 1e-6


def test_columns_of_zeros_change_nothing(tiny: Model) -> None:
    """A lane of fewer features than others is padded with them."""
    table = CASES["missing"]
    X, queries = (np.pad(part, ((0, 0), (0, 5))) for part in (table.X, table.queries))
    (plain,), (padded,) = asked(tiny, table), asked(tiny, Table(X, table.y, queries, 3))
    assert np.abs(plain - padded).max() < 1e-6


def test_the_order_of_rows_does_not_matter(tiny: Model) -> None:
    table = CASES["2 classes, d 8"]
    order = np.random.default_rng(0).permutation(len(table.X))
    shuffled = Table(table.X[order], table.y[order], table.queries, table.classes)
    assert np.abs(asked(tiny, table)[0] - asked(tiny, shuffled)[0]).max() < 1e-5


def test_half_precision_is_near(tiny_file: Path, tiny: Model) -> None:
    half = Model(tiny_file, Place("cpu", "bfloat16"))
    for table in CASES.values():
        assert np.abs(asked(tiny, table)[0] - asked(half, table)[0]).max() < 0.03


def test_beyond_its_limits_it_says_so_and_learns_on(tiny_file: Path) -> None:
    learner = ContextLearner(backbone=get_backbone("tabpfn_v1", weights=tiny_file), budget=50)
    lane = np.array([0])
    for label in range(11):
        learner.learn(
            label, np.full((1, 2), label, np.float32), np.array([label]), np.zeros(1), lane
        )
    with pytest.raises(BadInput, match="at most 10 classes apart, this context holds 11"):
        learner.predict(range(1), np.zeros((1, 1, 2), np.float32), lane)
    learner.learn(11, np.zeros((1, 2), np.float32), np.array([0]), np.zeros(1), lane)
    wide = ContextLearner(backbone=get_backbone("tabpfn_v1", weights=tiny_file), budget=50)
    for label in (0, 1):
        wide.learn(
            label, np.full((1, 101), label, np.float32), np.array([label]), np.zeros(1), lane
        )
    with pytest.raises(BadInput, match="at most 100 features, these rows have 101"):
        wide.predict(range(1), np.zeros((1, 1, 101), np.float32), lane)
