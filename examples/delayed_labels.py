"""Labels that come later, out of order, twice or never: predict under a key, learn by it."""

import random
from collections import deque

from millpond import StreamClassifier
from millpond.errors import BadInput

random.seed(1)
classifier = StreamClassifier(backbone="knn", policy="cure", budget=200, waiting=100)

under_way = deque()
right = scored = 0
for number in range(2000):
    x = {"a": random.gauss(0, 1), "b": random.gauss(0, 1)}
    guess = classifier.predict_one(x, key=number)
    under_way.append((number, guess, "up" if x["a"] > x["b"] else "down"))

    if len(under_way) > 50:  # a label comes fifty rows later, and one in ten never does
        key, guess, label = under_way.popleft()
        if key % 10:
            classifier.learn_one(y=label, key=key)
            right, scored = right + (guess == label), scored + 1

print(f"accuracy {right / scored:.3f}; {classifier.forgotten_} predictions forgotten")
for key in (1949, 1450, "never"):
    try:
        classifier.learn_one(y="up", key=key)
    except BadInput as error:
        print(error)
