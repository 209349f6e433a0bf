"""What requests and answers look like. Values are taken as they are written: "1" is no number."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from millpond.fleet import Operation

NAME = 256
"""Characters of a key, an id, a label, a feature or a category, at the most"""
FEATURES = 1000
OPERATIONS = 500
EXACT = 2**53 - 1
LARGEST = 3.4e38  # of a float32

Text = Annotated[str, Field(strict=True, max_length=NAME)]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=NAME)]


def _whole(value: Any) -> Any:
    """1.0 is the integer 1 in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole), Field(strict=True, ge=-EXACT, le=EXACT)]
Number = Annotated[float, Field(strict=True, ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Yes = Annotated[bool, Field(strict=True)]
Cell = Number | Yes | Text | None
Row = (
    Annotated[dict[Text, Cell], Field(min_length=1, max_length=FEATURES)]
    | Annotated[list[Cell], Field(min_length=1, max_length=FEATURES)]
)
Label = Whole | Number | Yes | Text
Id = Whole | Name

Key = Annotated[Name, Field(description="which stream: a device, a customer, a sensor")]
RowOfKey = Annotated[
    Row, Field(description="features by name, or in order; null is a missing value")
]
IdOfRow = Annotated[
    Id | None,
    Field(
        description="names this row of the key: an operation that is repeated under it is answered again "
        "and not applied again, and its label can be sent without the row"
    ),
]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Predict(_Message):
    """A row to predict."""

    key: Key
    x: RowOfKey
    id: IdOfRow = None

    def operation(self) -> Operation:
        return Operation("predict", self.key, self.x, id=self.id)


class Learn(_Message):
    """A label to learn, with its row or with the id that the row was predicted under."""

    key: Key
    y: Annotated[Label, Field(description="the label")]
    x: RowOfKey | None = None
    id: IdOfRow = None

    def operation(self) -> Operation:
        return Operation("learn", self.key, self.x, self.y, self.id)


class PredictInBatch(Predict):
    op: Literal["predict"]


class LearnInBatch(Learn):
    op: Literal["learn"]


class Batch(_Message):
    """Operations of any keys. Those of one key are done in their order."""

    operations: Annotated[
        list[Annotated[PredictInBatch | LearnInBatch, Field(discriminator="op")]],
        Field(min_length=1, max_length=OPERATIONS),
    ]


class Probability(BaseModel):
    label: Label
    p: float


class Predicted(BaseModel):
    """The most likely label (null while the key has learned nothing), and the probability of each."""

    label: Label | None
    probabilities: list[Probability]
    repeated: bool


class Learned(BaseModel):
    """The label is learned; `repeated` if it had been before."""

    learned: Literal[True] = True
    repeated: bool


class Refused(BaseModel):
    """An operation of a batch that was not done, and the status that it would have had alone."""

    error: str
    status: int


class Batched(BaseModel):
    """An answer for each operation, in their order."""

    answers: list[Predicted | Learned | Refused]


class Problem(BaseModel):
    """What was wrong, in a sentence."""

    detail: str


class Banks(BaseModel):
    short: int
    long: int
    long_by_class: list[int]
    admitted: int
    evicted: int


class KeyState(BaseModel):
    """What a key holds."""

    key: str
    operations: int
    labels: list[Label]
    features: int
    waiting: int
    forgotten: int
    banks: Banks | None


class Keys(BaseModel):
    """Some keys in the order of their names; `more` if there are others behind the last."""

    keys: list[str]
    total: int
    more: bool


class Forgotten(BaseModel):
    forgotten: Literal[True] = True


class Health(BaseModel):
    status: Literal["ok"]
    version: str
    keys: int
    about: dict[str, Any]
