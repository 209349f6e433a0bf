"""Record what the original library answers: tests compare our TabPFN-v1 with these files.

In an environment of its own, since the original needs an old scikit-learn:

    python -m venv original
    original/bin/pip install tabpfn==0.1.11 'scikit-learn<1.6' 'numpy<2' torch==2.4.1
    original/bin/python tests/backbones/published/record_tabpfn_v1.py path/to/the/released/checkpoint

One estimator, no power transform, no shifts of features or classes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from tabpfn import TabPFNClassifier
from tabpfn_v1_cases import FILE, save_tiny, tables


def answers(folder: Path, name: str) -> dict[str, np.ndarray]:
    classifier = TabPFNClassifier(
        device="cpu",
        base_path=folder,
        model_string="",
        N_ensemble_configurations=1,
        no_preprocess_mode=True,
        multiclass_decoder="",
        feature_shift_decoder=False,
        seed=0,
    )
    classifier.remove_models_from_memory()
    TabPFNClassifier.models_in_memory.clear()
    found = {}
    for case, table in tables().items():
        classifier.fit(table["X"], table["y"])
        found[f"{name}: {case}"] = classifier.predict_proba(table["queries"])
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as tiny, tempfile.TemporaryDirectory() as real:
        save_tiny(Path(tiny) / "models_diff" / FILE)
        (Path(real) / "models_diff").mkdir()
        shutil.copy(sys.argv[1], Path(real) / "models_diff" / FILE)
        found = answers(Path(tiny), "tiny") | answers(Path(real), "released")
    np.savez_compressed(Path(__file__).with_name("tabpfn_v1_recorded.npz"), **found)


if __name__ == "__main__":
    main()
