"""Where the files of the registry's streams, and weights of backbones, lie on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "MILLPOND_DATA"


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The argument, else the environment's MILLPOND_DATA, else a per-user cache."""
    chosen = os.environ.get(VARIABLE) if data_dir is None else data_dir
    if chosen:
        return Path(chosen).expanduser()
    return user_cache() / "millpond" / "streams"


def weights_folder(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder "backbones" in the data folder; in a per-user cache it lies beside that of streams."""
    chosen = os.environ.get(VARIABLE) if data_dir is None else data_dir
    if chosen:
        return Path(chosen).expanduser() / "backbones"
    return user_cache() / "millpond" / "backbones"


def user_cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    # The XDG specification: a relative path is to be ignored.
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return xdg if xdg.is_absolute() else Path.home() / ".cache"
