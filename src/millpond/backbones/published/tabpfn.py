"""TabPFN-v2.5 (Grinsztajn et al.): the network of `tabpfn`, its library's single estimator around it.

The released recipe is kept: modalities, squashed columns, singular vectors, a fingerprint and the
shuffles of seed 0 come from the library's own pipeline, fitted on the context at each query. What is
left out is validation, telemetry, and loading the checkpoint at each fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import config_context
from tabpfn.model_loading import load_model
from tabpfn.preprocessing.clean import clean_data, fix_dtypes, process_text_na_dataframe
from tabpfn.preprocessing.datamodel import FeatureModality, FeatureSchema
from tabpfn.preprocessing.ensemble import generate_classification_ensemble_configs
from tabpfn.preprocessing.modality_detection import detect_feature_modalities
from tabpfn.preprocessing.torch import create_gpu_preprocessing_pipeline
from tabpfn.preprocessing.transform import fit_preprocessing

from millpond.backbones.published.device import UNREADABLE, Place, Unreadable
from millpond.backbones.published.tables import FloatArray, Table, grouped, softmax
from millpond.errors import BadInput

TEMPERATURE = 0.9
CELLS = (1 << 16, 1 << 21)


@dataclass(frozen=True)
class Prepared:
    """A table as the network takes it."""

    X: NDArray[np.float32]
    """(T + k, F) after the pipeline; F is more than the table has"""
    y: NDArray[np.float32]
    """(T,) permuted classes"""
    permutation: NDArray[np.int64]
    """(C,) class -> what the network calls it"""
    categorical: list[int]
    clip: Any
    """the library's pipeline that pulls outliers in, on the device"""


class Model:
    """The network with one checkpoint's weights, on one device."""

    def __init__(self, path: Path, place: Place) -> None:
        self.place = place
        try:
            self.network, _, _, self.recipe = load_model(
                path=path, cache_trainset_representation=False
            )
        except (*UNREADABLE, AssertionError) as error:
            raise Unreadable(f"it does not hold TabPFN-v2.5 ({str(error)[:200]})") from None
        self.network.requires_grad_(False).to(place.device)
        self.most_classes: int = self.recipe.MAX_NUMBER_OF_CLASSES

    def probabilities(self, tables: list[Table]) -> list[FloatArray]:
        """Tables of one shape in one forward, also of different numbers of classes."""
        for table in tables:
            if table.classes > self.most_classes:
                raise BadInput(
                    f"TabPFN-v2.5 tells at most {self.most_classes} classes apart, this context "
                    f"holds {table.classes}: use a backbone without that limit, such as rill"
                )
        with config_context(transform_output="default"):
            prepared = [self._prepared(table) for table in tables]
        return grouped(prepared, _key, self._together, self._most)

    def _most(self, prepared: Prepared) -> int:
        return self.place.most(CELLS, prepared.X.size)

    def _together(self, part: list[Prepared]) -> list[FloatArray]:
        X = self.place.send(np.stack([p.X for p in part], axis=1))
        y = self.place.send(np.stack([p.y for p in part], axis=1))
        with self.place.quietly(), torch.random.fork_rng(devices=[]):
            if part[0].clip is not None:
                schema = FeatureSchema.from_only_categorical_indices([], X.shape[2])
                X = part[0].clip(X, feature_schema=schema, num_train_rows=len(y)).x
            logits = self.network(X, y, categorical_inds=[p.categorical for p in part])
            found = self.place.fetch(logits) / TEMPERATURE  # (k, B, C)
        return [softmax(found[:, i, p.permutation]) for i, p in enumerate(part)]

    def _prepared(self, table: Table) -> Prepared:
        recipe, rng = self.recipe, np.random.default_rng(0)
        schema = detect_feature_modalities(
            X=table.X,
            feature_names=None,
            min_samples_for_inference=recipe.MIN_NUMBER_SAMPLES_FOR_CATEGORICAL_INFERENCE,
            max_unique_for_category=recipe.MAX_UNIQUE_FOR_CATEGORICAL_FEATURES,
            min_unique_for_numerical=recipe.MIN_UNIQUE_FOR_NUMERICAL_FEATURES,
        )
        X, encoder, schema = clean_data(X=table.X, feature_schema=schema)
        configs = generate_classification_ensemble_configs(
            num_estimators=1,
            subsample_samples=recipe.SUBSAMPLE_SAMPLES,
            add_fingerprint_feature=recipe.FINGERPRINT_FEATURE,
            feature_shift_decoder=recipe.FEATURE_SHIFT_METHOD,
            polynomial_features=recipe.POLYNOMIAL_FEATURES,
            max_index=len(X),
            preprocessor_configs=recipe.PREPROCESS_TRANSFORMS,
            class_shift_method=recipe.CLASS_SHIFT_METHOD,
            n_classes=table.classes,
            random_state=rng,
            num_models=1,
            outlier_removal_std=recipe.get_resolved_outlier_removal_std("classifier"),
        )
        ((config, pipeline, rows, y, made),) = fit_preprocessing(
            configs,
            X,
            table.y,
            random_state=rng,
            feature_schema=schema,
            n_preprocessing_jobs=1,
            parallel_mode="block",
        )
        asked = fix_dtypes(table.queries, schema.indices_for(FeatureModality.CATEGORICAL))
        queries = pipeline.transform(process_text_na_dataframe(asked, ord_encoder=encoder)).X
        permutation = config.class_permutation
        return Prepared(
            X=np.concatenate([rows, queries]).astype(np.float32),
            y=y.astype(np.float32),
            permutation=np.arange(table.classes) if permutation is None else permutation,
            categorical=made.indices_for(FeatureModality.CATEGORICAL),
            clip=create_gpu_preprocessing_pipeline(config),
        )


def _key(prepared: Prepared) -> tuple[int, ...]:
    return (*prepared.X.shape, len(prepared.y))


load = Model
