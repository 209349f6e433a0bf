"""The paper's seven streams: what each one is, where its file lies, where it comes from.

No data comes with the package: the files are read from the data folder, and `get` fetches them
from where they are published. Every file but METER's is known by its SHA-256.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from millpond.errors import DataMissing, StreamError, UnknownName
from millpond.streams.archives import PACKED_SUFFIXES, unpack
from millpond.streams.download import NoConnection, Progress, download
from millpond.streams.folder import data_folder

# Pinned commits: what these addresses give does not change.
_CURE_COMMIT = "55887f78ff6e5190101149de3171d2190e55b69d"
_CURE = f"https://raw.githubusercontent.com/morcellinus/CURE-ICML-FMSD/{_CURE_COMMIT}/data/uspds/"
_CURE_PAGE = f"https://github.com/morcellinus/CURE-ICML-FMSD/tree/{_CURE_COMMIT}/data/uspds"
_SRP = (
    "https://raw.githubusercontent.com/hmgomes/StreamingRandomPatches/"
    "4048ecfa13861c1205e7fb5787471364cf993dfc/datasets/"
)
_SRP_PAGE = "https://github.com/hmgomes/StreamingRandomPatches/tree/master/datasets"


@dataclass(frozen=True)
class Status:
    """Whether a stream can be loaded here, and the file that it would be loaded from."""

    state: Literal["present", "absent", "generated"]
    path: Path | None


@dataclass(frozen=True)
class Entry:
    """One stream of the registry; shape and balance as in the paper's dataset table."""

    name: str
    label: str
    rows: int
    features: int
    classes: int
    balance: str
    kind: Literal["real", "generated"]
    terms: str
    file: str = ""
    url: str = ""
    page: str = ""
    sha256: str | None = None
    size: int | None = None
    dropped_class: int | None = None  # position among the sorted labels of the file

    @property
    def files(self) -> tuple[str, ...]:
        """The names that the file may have in the data folder."""
        if not self.file:
            return ()
        packed = any(self.file.endswith(suffix) for suffix in PACKED_SUFFIXES)
        return (self.file,) if packed else (self.file, f"{self.file}.xz", f"{self.file}.gz")

    def status(self, data_dir: str | os.PathLike[str] | None = None) -> Status:
        if self.kind == "generated":
            return Status("generated", None)
        folder = data_folder(data_dir)
        for name in self.files:
            path = folder / name
            if os.path.isfile(path):
                return Status("present", path)
        return Status("absent", folder / self.file)

    def content(self, path: Path) -> bytes:
        """The data in `path`, once its checksum has been found to be the registry's."""
        unpacked = unpack(path)
        whole = self.file.endswith(PACKED_SUFFIXES)
        found = hashlib.sha256(unpacked.packed if whole else unpacked.content).hexdigest()
        if self.sha256 is not None and found != self.sha256:
            raise StreamError(
                f"{path} is not the {self.label} of the paper: SHA-256 {found}, not {self.sha256}; "
                f"move it away and run: millpond streams get {self.name}"
            )
        return unpacked.content


_ENTRIES = (
    Entry(
        name="noaa",
        label="NOAA",
        rows=18_159,
        features=8,
        classes=2,
        balance="imbalanced",
        kind="real",
        terms="US federal weather data, compiled by Elwell and Polikar (2011)",
        file="NOAA.csv",
        url=_CURE + "NOAA.csv",
        page=_CURE_PAGE,
        sha256="31e0c1497dc8a34c7cc0316c02ebb602baa3c54946154f8f499f070be2329ac4",
        size=700_956,
    ),
    Entry(
        name="meter",
        label="METER",
        rows=22_948,
        features=96,
        classes=10,
        balance="balanced",
        kind="real",
        terms="Souza et al. (2020), SmartMeter_LADPU; its raw source is stated as CC0 by others",
        file="METER.csv",
        url=_CURE + "METER.csv",
        page=_CURE_PAGE,
        size=15_050_194,
    ),
    Entry(
        name="rialto",
        label="RIALTO",
        rows=82_250,
        features=27,
        classes=10,
        balance="balanced",
        kind="real",
        terms="Losing, Hammer and Wersing (2016); no licence stated",
        file="RIALTO.csv",
        url=_CURE + "RIALTO.csv",
        page=_CURE_PAGE,
        sha256="43b4949c186dc53f26bad6782aba08a266d3f91cc7199ca1b8cfc7ff874e1034",
        size=9_738_654,
    ),
    Entry(
        name="posture_no8",
        label="POSTURE-No8",
        rows=163_477,
        features=3,
        classes=10,
        balance="highly imbalanced",
        kind="real",
        terms="derived from a UCI set, probably CC BY 4.0",
        file="POSTURE.csv",
        url=_CURE + "POSTURE.csv",
        page=_CURE_PAGE,
        sha256="a10bc839ab221570a60618239e47c892eb434f3540867d82e8b9033422209099",
        size=10_038_584,
        dropped_class=8,
    ),
    Entry(
        name="poker",
        label="POKER",
        rows=829_201,
        features=10,
        classes=10,
        balance="extremely imbalanced",
        kind="real",
        terms="derived from a UCI set, probably CC BY 4.0",
        file="POKER.csv",
        url=_CURE + "POKER.csv",
        page=_CURE_PAGE,
        sha256="6307f0ecc4092ebfae238b6b17ed23296d84f065cc36b6f8331106b5212b068e",
        size=20_347_557,
    ),
    Entry(
        name="nomao",
        label="NOMAO",
        rows=34_465,
        features=118,
        classes=2,
        balance="imbalanced",
        kind="real",
        terms="derived from a UCI set, probably CC BY 4.0",
        file="nomao.arff.zip",
        url=_SRP + "nomao.arff.zip",
        page=_SRP_PAGE,
        sha256="3e34a976d06552dd6e3d61eea8990cc7eebdcfd0adc988ece9eb6bf85c195b46",
        size=1_336_048,
    ),
    Entry(
        name="agr_a",
        label="AGR(A)",
        rows=30_000,
        features=9,
        classes=2,
        balance="synthetic abrupt drift",
        kind="generated",
        terms="generated here; nothing is downloaded",
    ),
)

NAMES = tuple(entry.name for entry in _ENTRIES)


def entries() -> tuple[Entry, ...]:
    """The registry, in the order of the paper's table."""
    return _ENTRIES


def canonical(name: str) -> str:
    """Names are the same in any case, with "-" or "_"."""
    return name.strip().lower().replace("-", "_")


def entry(name: str) -> Entry:
    for candidate in _ENTRIES:
        if candidate.name == canonical(name):
            return candidate
    raise UnknownName("stream", name, NAMES)


def locate(wanted: Entry, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The stream's file, or a DataMissing that says how to get it."""
    status = wanted.status(data_dir)
    if status.state != "present" or status.path is None:
        raise DataMissing(
            f"{wanted.label} is not on this machine: run `millpond streams get {wanted.name}`, "
            f"or put {' or '.join(wanted.files)} into {data_folder(data_dir)}"
        )
    return status.path


def get(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Path | None:
    """Make sure that a stream's file is here; its path, or None for one that is generated.

    A file that is already here is checked and left as it is. `progress(done, total)` is called as
    bytes arrive. One attempt: a broken download continues where it stopped when called again.
    """
    wanted = entry(name)
    status = wanted.status(data_dir)
    if status.path is None:
        return None
    if status.state == "present":
        wanted.content(status.path)
        return status.path
    try:
        download(wanted.url, status.path, sha256=wanted.sha256, size=wanted.size, progress=progress)
    except NoConnection as error:
        raise DataMissing(
            f"{wanted.label} could not be fetched ({error}): download {wanted.file} from "
            f"{wanted.page} in a browser and put it into {status.path.parent}"
        ) from error
    return status.path
