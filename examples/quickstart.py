"""Learn a stream row by row: predict, then learn the label. Nothing is ever trained."""

import random

from millpond import StreamClassifier

random.seed(1)
classifier = StreamClassifier(backbone="knn", policy="cure", budget=200)

right = 0
for t in range(2000):
    # A shop's orders: numbers, text, values that are missing, a feature that comes later.
    order = {"amount": random.gauss(50, 20), "country": random.choice(["DE", "FR", "PT"])}
    if t % 10 == 0:
        order["amount"] = None
    if t >= 1000:
        order["express"] = random.random() < 0.3
    dear = (order["amount"] or 50) > (60 if order["country"] == "PT" else 40)
    label = "check" if dear and not order.get("express") else "ship"

    right += classifier.predict_one(order) == label
    classifier.learn_one(order, label)

print(f"accuracy {right / 2000:.3f}")
print({label: round(p, 2) for label, p in classifier.predict_proba_one(order).items()})
