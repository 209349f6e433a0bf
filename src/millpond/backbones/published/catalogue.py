"""The published backbones: their weights, where these come from, and under which terms.

Light on purpose: what is missing is said before torch or a model's own package is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from millpond.errors import UnknownName


@dataclass(frozen=True)
class Packaged:
    """Weights inside a source archive of the package index."""

    project: str
    archive: str
    archive_sha256: str
    member: str
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Hub:
    """Weights in a repository of the Hugging Face hub."""

    repository: str
    gated: bool = False

    @property
    def page(self) -> str:
        return f"https://huggingface.co/{self.repository}"


@dataclass(frozen=True)
class Entry:
    """One published model."""

    name: str
    label: str
    extra: str
    """of millpond, that installs what it needs"""
    needs: tuple[str, ...]
    """modules that must be installed"""
    file: str
    source: Packaged | Hub
    licence: str
    """of the weights"""
    code: str
    """what runs them, and its licence"""
    limits: str
    sha256: str | None = None
    size: int | None = None
    credit: str = ""
    checkout: str = ""
    """the environment variable that names its code's folder, for a model without a package"""
    cache: tuple[str, str] | None = None
    """the library's own cache: its environment variable and its folder in the user's cache"""

    @property
    def variable(self) -> str:
        """The environment variable that names the weights file."""
        return f"MILLPOND_{self.name.upper()}"

    @property
    def page(self) -> str:
        if isinstance(self.source, Hub):
            return self.source.page
        return f"https://pypi.org/project/{self.source.project}"


_ENTRIES = (
    Entry(
        name="tabpfn_v1",
        label="TabPFN-v1",
        extra="tabpfn_v1",
        needs=("torch",),
        file="prior_diff_real_checkpoint_n_0_epoch_42.cpkt",
        source=Packaged(
            project="pfns",
            archive="pfns-0.3.0.tar.gz",
            archive_sha256="1b48899b4485188978930c76ce6eeea927ae468355ab9e636c9e583696943544",
            member="pfns-0.3.0/models_diff/prior_diff_real_checkpoint_n_0_epoch_42.cpkt",
            notices=("pfns-0.3.0/LICENSE",),
        ),
        licence="Apache-2.0",
        code="millpond's own module, BSD-3-Clause",
        limits="10 classes, 100 features; trained on up to 1,024 rows",
        sha256="3c9aadaeddbf51462af8c0ee4b3ca3c697890f77e92318abbb0821b75261c392",
        size=103_350_223,
        credit="Copyright 2022 The University of Freiburg (Noah Hollmann, Samuel Müller, "
        "Katharina Eggensperger, Frank Hutter); copyright 2023 Samuel Mueller, Noah Hollmann, "
        "ML Lab Freiburg",
    ),
    Entry(
        name="tabicl",
        label="TabICL-v2",
        extra="tabicl",
        needs=("torch", "tabicl"),
        file="tabicl-classifier-v2-20260212.ckpt",
        source=Hub("jingang/TabICL"),
        licence="BSD-3-Clause",
        code="tabicl, BSD-3-Clause",
        limits="10 classes at once, more by a hierarchy",
    ),
    Entry(
        name="tabpfn",
        label="TabPFN-v2.5",
        extra="tabpfn",
        needs=("torch", "tabpfn"),
        file="tabpfn-v2.5-classifier-v2.5_default.ckpt",
        source=Hub("Prior-Labs/tabpfn_2_5", gated=True),
        licence="TabPFN-2.5 licence: NON-COMMERCIAL use only, gated",
        code="tabpfn 6.4, Prior Labs licence (Apache-2.0 with attribution)",
        limits="10 classes",
        cache=("TABPFN_MODEL_CACHE_DIR", "tabpfn"),
    ),
    Entry(
        name="tabdpt",
        label="TabDPT-v1.1",
        extra="tabdpt",
        needs=("torch", "tabdpt"),
        file="tabdpt1_1.safetensors",
        source=Hub("Layer6/TabDPT"),
        licence="as its page states",
        code="tabdpt 1.1, Apache-2.0",
        limits="10 classes at once, more by digits; 100 features at once, more by PCA",
    ),
    Entry(
        name="limix",
        label="LimiX-16M",
        extra="limix",
        needs=("torch",),
        file="LimiX-16M.ckpt",
        source=Hub("stableai-org/LimiX-16M"),
        licence="Apache-2.0",
        code="a checkout of github.com/limix-ldm/LimiX, Apache-2.0",
        checkout="MILLPOND_LIMIX_CODE",
        limits="10 classes",
    ),
)

NAMES = tuple(entry.name for entry in _ENTRIES)


def entry(name: str) -> Entry:
    for candidate in _ENTRIES:
        if candidate.name == name:
            return candidate
    raise UnknownName("published backbone", name, NAMES)
