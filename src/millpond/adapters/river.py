"""River: `RiverClassifier` for its pipelines and evaluations; datasets as streams and streams as such."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from millpond.classifier import StreamClassifier
from millpond.encoding import Encoder
from millpond.errors import BadInput, MissingExtra
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU
from millpond.reading import read_row
from millpond.streams.stream import Stream, encode_by_appearance
from millpond.streams.table import coded_note, unique_names

try:
    from river import base
    from river.datasets.base import BINARY_CLF, MULTI_CLF, Dataset, SyntheticDataset
except ModuleNotFoundError:
    raise MissingExtra("millpond.adapters.river", "river") from None

if TYPE_CHECKING:
    import pandas  # type: ignore[import, unused-ignore]

    from millpond.backbones import Backbone
    from millpond.policies import Policy

Row = dict[Any, Any]


class RiverClassifier(base.MiniBatchClassifier):  # type: ignore[misc, unused-ignore]
    """A frozen model and its bounded context as a River classifier.

    Parameters
    ----------
    backbone, policy, budget, short_ratio, tau, seed
        See `millpond.StreamClassifier`.
    **options
        What else it takes: `waiting`, details of the context, options of the backbone.

    Notes
    -----
    A stream of `(x, y, {"key": k})` passes the keys on to delayed labels: with `delay=...` in
    `river.evaluate.progressive_val_score`, each label then finds the prediction that it belongs to.
    """

    def __init__(
        self,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float | str = DEFAULT_TAU,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.backbone = backbone
        self.policy = policy
        self.budget = budget
        self.short_ratio = short_ratio
        self.tau = tau
        self.seed = seed
        self.options = options
        self._classifier = StreamClassifier(
            backbone, policy, budget, short_ratio, tau, seed, **options
        )

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: Any, key: Hashable | None = None) -> None:
        self._classifier.learn_one(_ordered(x), y, key=key)

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """One probability for each label learned so far: 0 for those that left the context."""
        present = self._classifier.predict_proba_one(_ordered(x), **kwargs)
        return {label: present.get(label, 0.0) for label in self._classifier.classes_}

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        return self._classifier.predict_one(_ordered(x), **kwargs)

    def learn_many(self, X: pandas.DataFrame, y: pandas.Series) -> None:
        self._classifier.partial_fit(X[list(_ordered(X))], y)

    def predict_proba_many(self, X: pandas.DataFrame) -> pandas.DataFrame:
        import pandas  # type: ignore[import, unused-ignore]

        proba = self._classifier.predict_proba(X)
        return pandas.DataFrame(proba, index=X.index, columns=self._classifier.classes_)


def from_river(dataset: Iterable[Any], n: int | None = None, *, name: str | None = None) -> Stream:
    """The first `n` rows of a River dataset, drift generator or any `(x, y)` iterable as a `Stream`.

    Parameters
    ----------
    dataset
        Generators never end: they need `n`. Of others all rows are taken without it.
    name
        What reports call the stream; by default the dataset's class.

    Notes
    -----
    Labels, and text among the features, are coded by order of first appearance, as `StreamClassifier`
    codes them: `prequential(from_river(d, n), warmup=0)` predicts what `RiverClassifier` predicts on
    the same rows. A feature that a row lacks is missing (NaN).
    """
    task = getattr(dataset, "task", BINARY_CLF)
    if task not in (BINARY_CLF, MULTI_CLF):
        raise BadInput(f"a stream has one class label a row: {task!r} is another task")
    if n is None and isinstance(dataset, SyntheticDataset):
        raise BadInput(
            f"{type(dataset).__name__} never ends: say how many rows, from_river(..., n)"
        )
    rows = [(_ordered(x), y) for x, y, *_ in islice(dataset, n)]
    y, classes = encode_by_appearance([label for _, label in rows])
    X, names, coded = _columns([x for x, _ in rows])
    return Stream(
        name or type(dataset).__name__,
        X,
        y,
        unique_names(names),
        classes,
        notes=("labels are coded by order of first appearance", *coded_note(coded)),
    )


def to_river(stream: Stream) -> RiverDataset:
    """A stream as a River dataset, which can be iterated over again and again."""
    return RiverDataset(stream)


class RiverDataset(Dataset):  # type: ignore[misc, unused-ignore]
    """The rows of a stream as River has them: a dict of the features that are there, and the label."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(  # type: ignore[no-untyped-call, unused-ignore]
            task=BINARY_CLF if len(stream.classes) <= 2 else MULTI_CLF,
            n_features=stream.X.shape[1],
            n_samples=len(stream),
            n_classes=len(stream.classes),
        )
        self.stream = stream

    def __iter__(self) -> Iterator[tuple[Row, Any]]:
        names, classes = self.stream.feature_names, self.stream.classes
        for x, y in self.stream:
            cells = zip(names, x.tolist(), strict=True)
            yield {name: value for name, value in cells if value == value}, classes[y]


def _ordered(x: Row) -> Row:
    """The features by name: River's rows have no order, and a backbone may tell columns apart."""
    try:
        names = sorted(x)
    except TypeError:  # names of several types
        names = sorted(x, key=lambda name: (type(name).__name__, str(name)))
    return {name: x[name] for name in names}


def _columns(rows: list[Row]) -> tuple[NDArray[np.float32], list[Any], list[str]]:
    """Rows of any features -> (n, d), the features as they first appear, and which hold text."""
    encoder, cells = Encoder(), [read_row(x) for x in rows]
    encoder.check(cells)
    vectors = [encoder.learn(row) for row in cells]
    X = np.full((len(rows), encoder.width), np.nan, dtype=np.float32)
    for x, vector in zip(X, vectors, strict=True):
        x[: len(vector)] = vector
    _, *columns = encoder.state()
    return X, [name for name, _ in columns], [str(n) for n, kind in columns if type(kind) is tuple]
