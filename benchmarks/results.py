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


def write(name: str | Path, figures: Any) -> None:
    """By name into the folder of results, or to a path."""
    path = name if isinstance(name, Path) else FOLDER / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n")
