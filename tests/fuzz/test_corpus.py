"""Every file of the fuzzer's corpus is read, or refused with an error of the library's own."""

from __future__ import annotations

import contextlib
import sys
import zipfile
from pathlib import Path

import pytest

from millpond.errors import MillpondError

HERE = Path(__file__).parent
sys.path.append(str(HERE))

from readers import READERS  # noqa: E402


@pytest.mark.parametrize("reader", READERS)
def test_the_corpus_is_read_or_refused(reader: str) -> None:
    corpus = HERE / "corpus"
    inputs = {path.name: path.read_bytes() for path in (corpus / reader).iterdir()}
    with zipfile.ZipFile(corpus / f"{reader}.zip") as archive:
        inputs |= {name: archive.read(name) for name in archive.namelist()}
    assert len(inputs) > 5
    for content in inputs.values():
        with contextlib.suppress(MillpondError):
            READERS[reader](content)
