"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A loaded machine is slow, not wrong: a time limit for each example would fail tests by chance.
settings.register_profile("millpond", deadline=None)
settings.load_profile("millpond")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the paper's files; tests that need it are skipped where it is not."""
    folder = os.environ.get("MILLPOND_DATA")
    if not folder:
        pytest.skip("MILLPOND_DATA does not name a folder with the paper's streams")
    return Path(folder)
