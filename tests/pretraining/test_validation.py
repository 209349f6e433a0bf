"""The held-out synthetic report, and the policies set against each other on the same streams."""

import json
import sys

import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.model import DenseAttention  # noqa: E402
from test_model import TINY, lively  # noqa: E402

from pretraining import export, validation  # noqa: E402

CPU = torch.device("cpu")


def test_policies_see_the_same_streams_and_differ_once_rows_leave() -> None:
    model = lively()
    kept = validation.policies_report(model, CPU, DenseAttention, streams=2, n=48, budget=64)
    assert kept["fifo"] == kept["dual_fifo"] == kept["cure"]  # a short bank of 48 holds them all
    bounded = validation.policies_report(model, CPU, DenseAttention, streams=2, n=48, budget=12)
    assert len({tuple(figures) for figures in bounded.values()}) == 3


def test_every_family_is_reported_and_a_report_is_repeatable() -> None:
    model = lively()
    one, other = (
        validation.synthetic_report(model, CPU, DenseAttention, streams=1, n=32) for _ in range(2)
    )
    assert one == other
    assert set(one) == {*validation.FAMILIES, "mean"}


def test_the_command_reports_a_file_with_and_without_marked_banks(tmp_path, monkeypatch, capsys):
    path = tmp_path / "w.npz"
    export.write(path, lively().state_dict(), TINY, {})
    sizes = ["--streams", "1", "--rows", "32", "--budget", "8", "--device", "cpu"]
    said = []
    for extra in ([], ["--without-offset"]):
        argv = ["validation", str(path), *sizes, "--policies-only", *extra]
        monkeypatch.setattr(sys, "argv", argv)
        validation.main()
        lines = [line.split(" ", 2) for line in capsys.readouterr().out.splitlines()]
        said.append({name: json.loads(figures) for _, name, figures in lines})
    marked, unmarked = said
    assert marked["fifo"] == unmarked["fifo"]  # which has no long bank
    assert marked["cure"] != unmarked["cure"]
