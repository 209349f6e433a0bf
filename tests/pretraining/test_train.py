"""Training: continuing equals not stopping, the schedule, and the toy run of `make pretrain-smoke`."""

import json

import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.model import DenseAttention, Shape  # noqa: E402

from pretraining import checkpoint, smoke, train  # noqa: E402

TINY = Shape(width=32, layers=2, heads=2, head_dim=16, rotary=12, hidden=32, row_layers=1,
             row_hidden=32, slots=16, codes=8, matches=2, match_dim=8, head_hidden=8)  # fmt: skip


@pytest.fixture
def short_streams(monkeypatch):
    settings = {"ROWS": "64", "WIDTHS": "4,8", "CLASSES": "4,12", "STREAMS": 4, "WARMUP": 3}
    for name, value in settings.items():
        monkeypatch.setattr(train, name, value)


def trainer(seed=3):
    return train.Trainer(TINY, "cpu", seed, DenseAttention)


def losses(run, steps):
    return [float(run.advance(0.5)["loss"]) for _ in range(steps)]


def test_a_continued_run_has_the_losses_of_an_uninterrupted_one(short_streams, tmp_path):
    straight = trainer()
    expected = losses(straight, 8)
    first = trainer()
    assert losses(first, 4) == expected[:4]
    first.save(tmp_path, [{"step": 4}])
    second = trainer(seed=0)
    assert second.load(tmp_path) == [{"step": 4}]
    assert losses(second, 4) == expected[4:]
    for name, value in straight.model.state_dict().items():
        assert torch.equal(second.model.state_dict()[name], value)
    # The averages pass through float16 in the weights file: close, not equal.
    for name, value in straight.average.items():
        torch.testing.assert_close(second.average[name], value, atol=1e-3, rtol=1e-3)


def test_a_run_goes_on_from_a_weights_file_alone(short_streams, tmp_path):
    first = trainer()
    losses(first, 4)
    first.save(tmp_path / "whole", [])
    (tmp_path / "weights.npz").write_bytes((tmp_path / "whole" / "weights.npz").read_bytes())
    second = trainer(seed=0)
    assert second.load(tmp_path) == []
    assert (second.step, second.seed) == (first.step, first.seed)
    assert (first.fresh, second.fresh) == (0, first.step)  # the rate warms up once more
    second.save(tmp_path / "later", [])
    third = trainer(seed=0)
    third.load(tmp_path / "later")
    assert third.fresh == first.step
    for name, value in second.model.state_dict().items():
        torch.testing.assert_close(value, first.average[name], atol=1e-3, rtol=1e-3)
    assert all(0 < value < 10 for value in losses(second, 1))


def test_every_kind_of_step_gives_a_finite_loss(short_streams, monkeypatch):
    for curated, banked in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)):
        monkeypatch.setattr(train, "CURATED", curated)
        monkeypatch.setattr(train, "BANKED", banked)
        run = trainer()
        assert all(0 < value < 10 for value in losses(run, 2))


def test_checkpoint_files_are_bounded_and_exact(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LIMIT", 1000)
    tensors = {f"t.{i}/x": torch.randn(10 * i + 1, 3) for i in range(9)}
    tensors["half"] = torch.randn(7).bfloat16()
    tensors["count"] = torch.tensor(5)
    checkpoint.save(tmp_path, tensors, {"step": 3})
    assert all(f.stat().st_size < 2500 for f in tmp_path.glob("state-*.npz"))
    assert len(list(tmp_path.glob("state-*.npz"))) > 3
    back, facts = checkpoint.load(tmp_path)
    assert facts == {"step": 3}
    assert list(back) == list(tensors)
    assert all(torch.equal(back[k], v) and back[k].dtype == v.dtype for k, v in tensors.items())


def test_the_rate_rises_holds_and_falls(monkeypatch):
    monkeypatch.setattr(train, "WARMUP", 10)
    monkeypatch.setattr(train, "COOLDOWN", 0.5)
    assert train.rate_at(0, 0.0) == pytest.approx(0.1)
    assert train.rate_at(10, 0.3) == train.rate_at(100, 0.5) == 1
    assert train.rate_at(100, 0.75) == pytest.approx(0.5)
    assert train.rate_at(100, 0.999) == pytest.approx(0.02)
    monkeypatch.setattr(train, "COOLDOWN", 0.0)
    assert train.rate_at(100, 0.999) == 1


def test_the_script_runs_by_time_and_writes_its_log(short_streams, monkeypatch, tmp_path, capsys):
    settings = {"SHAPE": json.dumps({"width": 32, "layers": 1, "heads": 2, "head_dim": 16,
                "rotary": 12, "hidden": 32, "row_hidden": 32}),
                "MINUTES": 0.05, "CHECK_EVERY": 0.0, "PRINT_EVERY": 0.5, "OUT": str(tmp_path),
                "DEVICE": "cpu", "ATTENTION": "dense", "COMPILE": 0}  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setattr(train, name, value)
    train.main()
    assert "loss" in capsys.readouterr().out
    log = json.loads((tmp_path / "log.json").read_text())
    assert log[0]["run"]["MINUTES"] == 0.05
    assert log[-1]["step"] > 1
    assert (tmp_path / "weights.npz").exists()
    monkeypatch.setattr(train, "INIT", str(tmp_path))
    train.main()
    longer = json.loads((tmp_path / "log.json").read_text())
    assert longer[: len(log)] == log
    assert longer[-1]["step"] > log[-1]["step"]


@pytest.mark.long
def test_the_toy_learns():
    smoke.main()
