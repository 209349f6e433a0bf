"""The weights file: one .npz of float16 arrays and a JSON header, no pickle, checked on load.

`header` is a 1-D uint8 array of UTF-8 JSON with format, version, shape, feature constants, provenance
and a SHA-256 over the other entries. A file that does not fit this engine is refused by name.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from millpond.backbones.rill.features import CHANNELS, CLIP, REFERENCE, WINDOW
from millpond.errors import BadOption, DataMissing

FORMAT, VERSION = "rill", 1
FEATURES = {"WINDOW": WINDOW, "REFERENCE": REFERENCE, "CLIP": CLIP, "CHANNELS": CHANNELS}
PACKAGED = Path(__file__).with_name("weights.npz")

Arrays = dict[str, NDArray[np.float16]]


@dataclass(frozen=True, slots=True)
class Shape:
    """The architecture of the network that a file holds."""

    width: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rotary: int
    """dims of a head that turn with time; the rest takes the long bank's offset"""
    hidden: int
    row_layers: int
    row_hidden: int
    slots: int
    codes: int
    matches: int
    match_dim: int
    head_hidden: int

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The shape of every array in the file, by name."""
        d, query, key = self.width, self.heads * self.head_dim, self.kv_heads * self.head_dim
        matched = self.matches * self.match_dim
        scored = 2 * self.heads + self.matches + 4
        found: dict[str, tuple[int, ...]] = {
            "columns": (self.slots, CHANNELS, d),
            "codes": (self.codes, d),
            "ask": (d,),
            "norm.gain": (d,),
            "head.match_q.weight": (matched, d),
            "head.match_c.weight": (matched, d),
            "head.hidden.weight": (self.head_hidden, scored),
            "head.hidden.bias": (self.head_hidden,),
            "head.score.weight": (1, self.head_hidden),
        }
        for i in range(self.row_layers):
            found |= self._gated(f"row.{i}", self.row_hidden)
        for name in [*(f"layers.{i}.keys" for i in range(self.layers)), "votes"]:
            found |= {
                f"{name}.q.weight": (query, d),
                f"{name}.k.weight": (key, d),
                f"{name}.q_norm.gain": (self.head_dim,),
                f"{name}.k_norm.gain": (self.head_dim,),
                f"{name}.sink": (self.kv_heads, self.head_dim),
                f"{name}.offset": (self.kv_heads, self.head_dim - self.rotary),
            }
        for i in range(self.layers):
            found |= {
                f"layers.{i}.norm.gain": (d,),
                f"layers.{i}.v.weight": (key, d),
                f"layers.{i}.out.weight": (d, query),
                f"layers.{i}.sink_value": (self.kv_heads, self.head_dim),
            }
            found |= self._gated(f"layers.{i}.step", self.hidden)
        return found

    def _gated(self, name: str, hidden: int) -> dict[str, tuple[int, ...]]:
        return {
            f"{name}.norm.gain": (self.width,),
            f"{name}.up.weight": (2 * hidden, self.width),
            f"{name}.down.weight": (self.width, hidden),
        }


@dataclass(frozen=True)
class Weights:
    """A weights file that has been read and checked."""

    shape: Shape
    arrays: Mapping[str, NDArray[np.float16]]
    provenance: Any
    sha256: str


def checksum(arrays: Mapping[str, NDArray[np.float16]]) -> str:
    """SHA-256 over the arrays by sorted name: name, 0, shape as "128x13x256", 0, little-endian bytes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], "<f2")
        digest.update(name.encode() + b"\0")
        digest.update("x".join(map(str, array.shape)).encode() + b"\0")
        digest.update(array.view(np.uint8).data)
    return digest.hexdigest()


def load(path: Path) -> Weights:
    """Read a weights file, or say why it cannot be used."""
    if not path.is_file():
        raise DataMissing(
            f"there are no Rill weights at {path}: install a released millpond, which brings them, "
            "or name a file with weights=..."
        )
    arrays, header = _read(path)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadOption(f"{path} is not a Rill weights file")
    if header.get("version") != VERSION:
        raise BadOption(
            f"{path} is of version {header.get('version')}, this millpond reads version {VERSION}: "
            "install the millpond that it was made for"
        )
    if header.get("sha256") != checksum(arrays):
        raise BadOption(f"{path} is damaged, its checksum does not match: install or copy it again")
    if header.get("features") != FEATURES:
        raise BadOption(
            f"{path} was trained on other column features ({header.get('features')}) than this "
            f"millpond computes ({FEATURES}): install the millpond that it was made for"
        )
    return Weights(_shape(path, header, arrays), arrays, header.get("provenance"), header["sha256"])


def _read(path: Path) -> tuple[Arrays, Any]:
    try:
        # zipfile, not np.load, opens the archive: on a damaged one that would leave the file open.
        with zipfile.ZipFile(path) as archive:
            arrays = {}
            for entry in archive.namelist():
                with archive.open(entry) as file:
                    array = np.lib.format.read_array(file, allow_pickle=False)
                arrays[entry.removesuffix(".npy")] = array
        header = json.loads(arrays.pop("header").tobytes())
    # What NumPy, zip and zlib raise on a file that is no archive, is cut short or was altered.
    except (
        EOFError,
        KeyError,
        OSError,
        RuntimeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise BadOption(f"{path} cannot be read as a Rill weights file: {error}") from None
    odd = [name for name, array in arrays.items() if array.dtype != np.float16]
    if odd:
        raise BadOption(f"{path} is not a Rill weights file: {odd[0]} is not float16")
    return arrays, header


def _shape(path: Path, header: dict[str, Any], arrays: Arrays) -> Shape:
    given = header.get("shape")
    names = {field.name for field in fields(Shape)}
    if not isinstance(given, dict) or set(given) != names:
        raise BadOption(f"{path} states no shape that this millpond knows: {given}")
    shape = Shape(**given)
    expected, found = shape.arrays(), {name: array.shape for name, array in arrays.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            raise BadOption(
                f"{path} does not hold the network it states: {name} is {found.get(name)}, "
                f"not {expected.get(name)}"
            )
    return shape
