from __future__ import annotations

import sys
from pathlib import Path

import pytest

from millpond.streams.folder import data_folder


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    for name in ("MILLPOND_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")


def test_argument_before_environment_before_cache(monkeypatch, tmp_path):
    assert data_folder() == tmp_path / ".cache" / "millpond" / "streams"
    monkeypatch.setenv("MILLPOND_DATA", "/env")
    assert data_folder() == Path("/env")
    assert data_folder("/argument") == Path("/argument")
    assert data_folder("~/x") == tmp_path / "x"
    monkeypatch.setenv("MILLPOND_DATA", "")
    assert data_folder() == tmp_path / ".cache" / "millpond" / "streams"


@pytest.mark.parametrize(
    ("xdg", "expected"), [("/caches", "/caches"), ("relative", "~/.cache"), ("", "~/.cache")]
)
def test_linux(monkeypatch, xdg, expected):
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert data_folder() == Path(expected).expanduser() / "millpond" / "streams"


def test_mac(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == tmp_path / "Library" / "Caches" / "millpond" / "streams"


def test_windows(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "win32")
    assert data_folder() == tmp_path / "AppData" / "Local" / "millpond" / "streams"
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert data_folder() == Path("/local/millpond/streams")
