"""scikit-learn: `SklearnClassifier`, an estimator for pipelines, model selection and `partial_fit`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from millpond.classifier import StreamClassifier
from millpond.errors import MissingExtra
from millpond.learner import DEFAULT_BACKBONE, DEFAULT_TAU, FloatArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import (
        assert_all_finite,
        check_consistent_length,
        check_random_state,
        column_or_1d,
    )
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError:
    raise MissingExtra("millpond.adapters.sklearn", "sklearn") from None

if TYPE_CHECKING:
    from millpond.backbones import Backbone
    from millpond.policies import Policy


class SklearnClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """A frozen model and its bounded context as a scikit-learn classifier.

    Rows are learned in the order in which they come, one after the other; only `budget` of them stay.

    Parameters
    ----------
    backbone, policy, budget, short_ratio, tau
        See `millpond.StreamClassifier`.
    random_state : int, RandomState instance or None
        The seed of a backbone that draws random numbers.
    options : dict, optional
        What else it takes, such as ``{"k": 5}``: `waiting`, details of the context, options of the
        backbone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted: those learned so far and those declared in `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X had column names.
    classifier_ : millpond.StreamClassifier

    Notes
    -----
    NaN is a missing value. Numbers come in any array; text and categories in the columns of a
    DataFrame.
    """

    def __init__(
        self,
        backbone: str | Backbone = DEFAULT_BACKBONE,
        policy: str | Policy = "cure",
        budget: int = 1000,
        short_ratio: float = 0.75,
        tau: float | str = DEFAULT_TAU,
        random_state: Any = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.backbone = backbone
        self.policy = policy
        self.budget = budget
        self.short_ratio = short_ratio
        self.tau = tau
        self.random_state = random_state
        self.options = options

    def fit(self, X: ArrayLike, y: ArrayLike) -> SklearnClassifier:
        """Forget what was learned, and learn these rows in their order."""
        rows, labels = self._checked(X, y, reset=True)
        return self._learn(self._fresh(), rows, labels, [labels])

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> SklearnClassifier:
        """Learn these rows too. `classes` may declare labels in advance; others may still come."""
        first = not hasattr(self, "classifier_")
        rows, labels = self._checked(X, y, reset=first)
        classifier = self._fresh() if first else self.classifier_
        known = [] if first else [self.classes_]
        declared = [] if classes is None else [np.asarray(classes)]
        return self._learn(classifier, rows, labels, [*known, *declared, labels])

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """(n, classes) in the order of ``classes_``; 0 for classes that are not in the context.

        Rows are asked one by one: scikit-learn wants an answer that is the same to the bit whatever
        else is in X, and matrix products of many rows are not.
        """
        check_is_fitted(self, "classifier_")
        rows = self._rows(X, reset=False)
        learned = np.array(self.classifier_.classes_.tolist(), dtype=self.classes_.dtype)
        place = np.searchsorted(self.classes_, learned)
        proba = np.zeros((len(rows), len(self.classes_)))
        self.classifier_.predict_proba(rows[:0])  # encodes what was learned last
        for row, answer in zip(rows, proba, strict=True):
            answer[place] = self.classifier_.predict_proba(row[None])[0]
        return proba

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """(n,) the most likely labels, the first in ``classes_`` on ties."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fresh(self) -> StreamClassifier:
        seed = self.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        return StreamClassifier(
            self.backbone,
            self.policy,
            self.budget,
            self.short_ratio,
            self.tau,
            seed,
            **(self.options or {}),
        )

    def _learn(
        self,
        classifier: StreamClassifier,
        rows: NDArray[Any],
        labels: NDArray[Any],
        classes: list[NDArray[Any]],
    ) -> SklearnClassifier:
        classes_ = unique_labels(*classes)  # before learning: it refuses labels of mixed types
        classifier.partial_fit(rows, labels.tolist())
        self.classifier_, self.classes_ = classifier, classes_
        return self

    def _checked(
        self, X: ArrayLike, y: ArrayLike, *, reset: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        rows = self._rows(X, reset=reset)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(rows, labels)
        check_classification_targets(labels)
        return rows, labels

    def _rows(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        """(n, d) numbers, or the cells of a frame that has other columns than numeric ones."""
        if hasattr(X, "columns"):
            cells = np.asarray(X)
            if cells.dtype.kind not in "biuf":
                validate_data(self, X, reset=reset, skip_check_array=True)
                return cells
        return np.asarray(validate_data(self, X, reset=reset, ensure_all_finite="allow-nan"))
