"""CapyMOA: `CapymoaClassifier` for its evaluations; its streams and MOA's as ours, and ours as theirs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from millpond.classifier import StreamClassifier
from millpond.errors import BadInput, MissingExtra
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU, FloatArray
from millpond.streams.stream import Stream, encode_by_appearance
from millpond.streams.table import unique_names

try:
    from capymoa.base import Classifier
    from capymoa.stream import NumpyStream, Schema
except ModuleNotFoundError:
    raise MissingExtra("millpond.adapters.capymoa", "capymoa") from None

if TYPE_CHECKING:
    from capymoa.core import Instance, LabeledInstance
    from capymoa.stream import Stream as CapymoaStream

    from millpond.backbones import Backbone
    from millpond.policies import Policy


class CapymoaClassifier(Classifier):  # type: ignore[misc, unused-ignore]
    """A frozen model and its bounded context as a CapyMOA classifier.

    Parameters
    ----------
    schema
        The schema of the stream.
    random_seed
        The seed of a backbone that draws random numbers.
    backbone, policy, budget, short_ratio, tau
        See `millpond.StreamClassifier`.
    options
        What else it takes, such as ``{"k": 5}``: `waiting`, details of the context, options of the
        backbone.
    """

    def __init__(
        self,
        schema: Schema,
        random_seed: int = 1,
        *,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float | str = DEFAULT_TAU,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(schema, random_seed)
        self._classifier = StreamClassifier(
            backbone, policy, budget, short_ratio, tau, random_seed, **(options or {})
        )

    def train(self, instance: LabeledInstance) -> None:
        known = instance.y_index >= 0  # -1 is CapyMOA's missing label
        self._classifier.learn_one(instance.x, instance.y_index if known else None)

    def predict(self, instance: Instance) -> int | None:
        """The index of the most likely label, the earlier seen on ties; None before training."""
        answer: int | None = self._classifier.predict_one(instance.x)
        return answer

    def predict_proba(self, instance: Instance) -> FloatArray | None:
        """(classes,) in the order of the schema; None before training."""
        present = self._classifier.predict_proba_one(instance.x)
        if not present:
            return None
        proba = np.zeros(self.schema.get_num_classes())
        for index, p in present.items():
            proba[cast("int", index)] = p
        return proba


def from_capymoa(stream: CapymoaStream[Any], n: int | None, *, name: str | None = None) -> Stream:
    """The first `n` rows of a CapyMOA or MOA stream as a `Stream`; the stream is restarted.

    Parameters
    ----------
    stream
        Generators never end: they need `n`. With None, all rows are taken.
    name
        What reports call the stream; by default the relation's name.

    Notes
    -----
    Nominal features are the positions of their values in the schema. Labels are coded by order of first
    appearance, as `StreamClassifier` codes them: `prequential(from_capymoa(s, n), warmup=0)` predicts
    what `CapymoaClassifier` predicts in CapyMOA's `prequential_evaluation`.
    """
    schema = stream.get_schema()
    if not schema.is_classification():
        raise BadInput("a stream has one class label a row: this schema is one for regression")
    stream.restart()
    rows = [(instance.x, instance.y_label) for instance in islice(stream, n)]
    if any(label is None for _, label in rows):
        raise BadInput("the label is missing in some rows of this stream")
    y, classes = encode_by_appearance([label for _, label in rows])
    header = schema.get_moa_header()
    names = [str(header.attribute(k).name()) for k in range(header.numAttributes())]
    del names[header.classIndex()]
    return Stream(
        name or str(schema.dataset_name),
        np.array([x for x, _ in rows]).reshape(len(rows), len(names)),
        y,
        unique_names(names),
        classes,
        notes=("labels are coded by order of first appearance",),
    )


def to_capymoa(stream: Stream) -> NumpyStream[LabeledInstance]:
    """A stream as one of CapyMOA's, with the names of its features and labels."""
    target = "class"
    while target in stream.feature_names:
        target += "_"
    converted = NumpyStream(stream.X, stream.y, dataset_name=stream.name)
    # Its own schema knows no label strings, and only those classes that have rows.
    converted.schema = Schema.from_custom(
        features=[*stream.feature_names, target],
        target=target,
        categories={target: [str(label) for label in stream.classes]},
        name=stream.name,
    )
    return converted
