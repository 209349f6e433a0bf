"""Where benchmark figures go, and on what they were measured."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

import millpond

FOLDER = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "millpond": millpond.__version__,
    }


def write(name: str, figures: Any) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n")
