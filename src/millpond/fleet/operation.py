"""What is asked of a fleet, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from millpond import tags
from millpond.errors import BadInput, BadOption

PREDICT: Final = "predict"
LEARN: Final = "learn"
Verb = Literal["predict", "learn"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One row to predict, or one label to learn, of one key.

    An ``id`` names a row of a key: predicting it and learning its label are two operations, each done
    once, however often it is asked for. A label with an id needs no row.
    """

    verb: Verb
    key: Hashable
    x: Any = None
    y: Any = None
    id: Hashable | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a key said of a row (nothing, of a label), and whether it had said so before."""

    probabilities: dict[Hashable, float] = field(default_factory=dict)
    repeated: bool = False

    @property
    def label(self) -> Any:
        """The most likely label, the earlier seen on ties; None where there is none."""
        if not self.probabilities:
            return None
        return max(self.probabilities, key=self.probabilities.__getitem__)


def name_of(key: Hashable) -> str:
    """A key as text that gives it back by type, or BadInput."""
    if key is None:
        raise BadInput("an operation needs a key: key=...")
    return text_of(key, "the key")


def text_of(value: Any, what: str) -> str:
    try:
        return json.dumps(tags.encode(value, what), separators=(",", ":"))
    except BadOption as error:
        raise BadInput(str(error)) from None
    except UnicodeError:
        raise BadInput(f"{what} is not text that can be stored") from None


def key_of(name: str) -> Hashable:
    """The key that a name was made of."""
    key: Hashable = tags.decode(json.loads(name))
    return key
