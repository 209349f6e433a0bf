"""Small random checkpoints in each library's own format, and tables to ask them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from millpond.backbones.published.tables import Table


def randomised(network: Any) -> dict[str, torch.Tensor]:
    """Its state with matrices that let something through; fresh ones often answer uniformly."""
    torch.manual_seed(3)
    state = {}
    for name, value in network.state_dict().items():
        if value.ndim > 1 and value.is_floating_point():
            value = torch.randn_like(value) * (1.5 / value.shape[-1] ** 0.5)
        state[name] = value.clone()
    return state


def save_tabicl(folder: Path, full: bool = False) -> Path:
    """``full``: of the released network's size, as in the two that follow."""
    from tabicl._model.tabicl import TabICL

    config = {
        "max_classes": 10,
        "embed_dim": 16,
        "col_num_blocks": 1,
        "col_nhead": 2,
        "col_num_inds": 8,
        "col_affine": False,
        "col_feature_group": "same",
        "col_feature_group_size": 3,
        "col_target_aware": True,
        "col_ssmax": "qassmax-mlp-elementwise",
        "row_num_blocks": 1,
        "row_nhead": 2,
        "row_num_cls": 2,
        "row_rope_base": 100000,
        "icl_num_blocks": 2,
        "icl_nhead": 2,
        "icl_ssmax": "qassmax-mlp-elementwise",
        "zero_init": False,
    }
    if full:  # the class's own sizes
        for name in ("embed_dim", *(name for name in config if "_num_" in name or "nhead" in name)):
            del config[name]
    path = folder / "tabicl.ckpt"
    torch.save({"config": config, "state_dict": randomised(TabICL(**config))}, path)
    return path


def save_tabpfn(folder: Path, full: bool = False) -> Path:
    from tabpfn.architectures import ARCHITECTURES

    config = {
        "max_num_classes": 10,
        "num_buckets": 100,
        "emsize": 32,
        "nlayers": 2,
        "nhead": 2,
        "features_per_group": 3,
        "num_thinking_rows": 4,
    }
    if full:
        config |= {"emsize": 192, "nlayers": 18, "nhead": 6, "num_thinking_rows": 64}
    made = ARCHITECTURES["base"]
    parsed, _ = made.parse_config(config)
    network = made.get_architecture(parsed, n_out=10, cache_trainset_representation=False)
    path = folder / "tabpfn-v2.5-tiny.ckpt"
    torch.save(
        {"state_dict": randomised(network), "config": config, "architecture_name": "base"}, path
    )
    return path


def save_tabdpt(folder: Path, full: bool = False) -> Path:
    from omegaconf import OmegaConf
    from safetensors.torch import save_file
    from tabdpt.model import TabDPTModel

    width, layers, heads = (768, 16, 4) if full else (32, 2, 2)
    model = {"max_num_classes": 10, "nhead": heads, "emsize": width, "nlayers": layers}
    model["nhid_factor"] = 2
    config = {"model": model | {"max_num_features": 100}, "training": {"dropout": 0.0}}
    config["env"] = {"device": "cpu"}
    network = TabDPTModel(
        dropout=0.0,
        n_out=10,
        nhead=heads,
        nhid=2 * width,
        ninp=width,
        nlayers=layers,
        num_features=100,
    )
    assert OmegaConf.create(config).model.max_num_classes == 10
    path = folder / "tabdpt1_1.safetensors"
    save_file(randomised(network), path, metadata={"cfg": json.dumps(config)})
    return path


def save_limix(folder: Path, network: Any) -> Path:
    """`network` is the repository's class."""
    config: dict[str, Any] = {
        "preprocess_config_x": {
            "num_features": 2,
            "nan_handling_enabled": True,
            "normalize_on_train_only": True,
            "normalize_x": True,
            "remove_outliers": False,
            "normalize_by_used_features": True,
        },
        "encoder_config_x": {
            "num_features": 2,
            "embedding_size": 32,
            "mask_embedding_size": 32,
            "encoder_use_bias": True,
        },
        "encoder_config_y": {
            "num_inputs": 1,
            "embedding_size": 32,
            "nan_handling_y_encoder": True,
            "max_num_classes": 10,
        },
        "decoder_config": {"num_classes": 10},
        "nlayers": 2,
        "nhead": 2,
        "embed_dim": 32,
        "hid_dim": 64,
        "features_per_group": 2,
        "dropout": 0.0,
        "recompute_attn": False,
    }
    path = folder / "LimiX-tiny.ckpt"
    torch.save({"config": config, "state_dict": randomised(network(**config))}, path)
    return path


def table(
    rows: int, features: int, classes: int, queries: int = 3, missing: float = 0.0, seed: int = 0
) -> Table:
    """Every class is present; one column is constant, one has outliers, where there are enough."""
    rng = np.random.default_rng([seed, rows, features, classes])
    y = rng.permutation(np.arange(rows) % classes)
    centres = 1.5 * rng.standard_normal((classes, features))
    X = (rng.standard_normal((rows, features)) + centres[y]) * 3 + 10
    asked = (rng.standard_normal((queries, features)) + centres[:queries].mean(0)) * 3 + 10
    if features > 5:
        X[:, 2] = 4.0
        X[::29, 4] *= 40
    X[rng.random(X.shape) < missing] = np.nan
    asked[rng.random(asked.shape) < missing] = np.nan
    return Table(X.astype(np.float32), y.astype(np.int64), asked.astype(np.float32), classes)


TABLES = {
    "2 classes, d 3": table(40, 3, 2),
    "10 classes, d 3": table(60, 3, 10),
    "2 classes, d 27": table(120, 27, 2),
    "10 classes, d 27": table(60, 27, 10),
    "2 classes, d 96": table(30, 96, 2),
    "10 classes, d 96": table(40, 96, 10),
    "missing": table(50, 6, 3, missing=0.2),
    "two rows": table(2, 4, 2),
}
MANY = {"11 classes": table(60, 4, 11), "23 classes": table(70, 4, 23)}
