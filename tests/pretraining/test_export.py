"""The weights file: round trip, checksum, no pickle."""

import dataclasses
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pretraining needs torch (the `torch` extra)")

from pretraining.model import SMALL, Rill, Shape  # noqa: E402

from pretraining import export  # noqa: E402


def test_weights_come_back_with_their_header(tmp_path):
    model = Rill(SMALL)
    digest = export.write(tmp_path / "w.npz", model.state_dict(), SMALL, {"note": "a test"})
    arrays, header = export.read(tmp_path / "w.npz")
    assert header["sha256"] == digest == export.checksum(arrays)
    assert header["provenance"] == {"note": "a test"}
    assert header["shape"] == dataclasses.asdict(SMALL)
    back = export.restore(tmp_path / "w.npz").state_dict()
    for name, value in model.state_dict().items():
        assert torch.equal(back[name], value.half().float())


def test_a_changed_byte_is_noticed(tmp_path):
    export.write(tmp_path / "w.npz", Rill(SMALL).state_dict(), SMALL, {})
    arrays, header = export.read(tmp_path / "w.npz")
    arrays["ask"][0] += np.float16(1)
    packed = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "bad.npz", header=packed, **arrays)
    with pytest.raises(ValueError, match="damaged"):
        export.read(tmp_path / "bad.npz")


def test_another_format_is_refused(tmp_path):
    header = np.frombuffer(json.dumps({"format": "other", "version": 1}).encode(), np.uint8)
    np.savez(tmp_path / "x.npz", header=header)
    with pytest.raises(ValueError, match="not a version 1"):
        export.read(tmp_path / "x.npz")


def test_the_full_model_fits_the_package():
    model = Rill(Shape())
    size = sum(p.numel() for p in model.parameters())
    assert 6.0e6 < size < 8.0e6
    assert 2 * size < 15 * 2**20
