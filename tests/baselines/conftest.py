"""What the tests of MOA need: a Java virtual machine with MOA, or a reason to skip."""

from __future__ import annotations

from typing import Any

import pytest

from millpond.baselines import moa_jvm
from millpond.errors import MissingExtra


@pytest.fixture(scope="session")
def jpype() -> Any:
    try:
        return moa_jvm.java()
    except MissingExtra as error:
        pytest.skip(str(error))
