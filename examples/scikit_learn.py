"""millpond inside scikit-learn: pipelines, model selection, and `partial_fit` as rows arrive.

pip install 'millpond[sklearn]'
"""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from millpond import load_stream
from millpond.adapters.sklearn import SklearnClassifier

stream = load_stream("agr_a").head(600)
X, y = stream.X.copy(), stream.labels
X[::10, 0] = np.nan  # missing values are fine with and without an imputer

# An ordinary estimator: rows are learned in their order, so split by time.
pipeline = make_pipeline(SimpleImputer(), StandardScaler(), SklearnClassifier(budget=200))
search = GridSearchCV(
    pipeline,
    {"sklearnclassifier__policy": ["fifo", "cure"], "sklearnclassifier__tau": [0.1, 0.4]},
    cv=TimeSeriesSplit(2),
)
search.fit(X, y)
print(f"best on later rows: {search.best_score_:.2%} with {search.best_params_}")

# Batches as they arrive: predict a batch, then learn it.
model = SklearnClassifier(budget=200)
guesses = []
for rows in np.split(np.arange(len(X)), 12):
    if rows[0]:
        guesses.extend(model.predict(X[rows]))
    model.partial_fit(X[rows], y[rows], classes=np.unique(y))
print(f"in batches of {len(rows)}: {accuracy_score(y[-len(guesses) :], guesses):.2%}")
