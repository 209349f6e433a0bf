"""Test-then-train over a block of rows inside the Java virtual machine: values in once, votes out once.

The loop over the rows must run in Java, where a row costs some 10 microseconds; a call from Python for
each row would cost several times that. MOA has no such loop that gives votes, and nothing may be
compiled on the user's machine, so the loop is Java's own `List.replaceAll`, and what it does with a row
is composed of method handles: values -> instance -> votes, then train.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Blocks:
    """One MOA classifier on a stream of ``features`` numeric columns and ``classes`` classes."""

    def __init__(self, jpype: Any, classifier: Any, header: Any, classes: int) -> None:
        self._jpype = jpype
        self._arrays = jpype.JClass("java.util.Arrays")
        self._step = _step(jpype, classifier, header, classes)

    def test_then_train(self, values: FloatArray) -> FloatArray:
        """(k, d + 1) features and class code of k rows -> (k, C) votes, each from before its row."""
        if not len(values):
            raise ValueError("a block has at least one row")
        rows = self._jpype.JArray.of(np.ascontiguousarray(values))  # double[k][d + 1]
        self._arrays.asList(rows).replaceAll(self._step)  # row by row: values out, votes in
        return np.array(rows)


def make_classifier(jpype: Any, command: str, header: Any, seed: int) -> Any:
    """The classifier that MOA's own command line makes of an option string."""
    kind = jpype.JClass("moa.classifiers.Classifier").class_
    classifier = jpype.JClass("moa.options.ClassOption").cliStringToObject(command, kind, None)
    classifier.setModelContext(header)
    classifier.setRandomSeed(seed)
    classifier.prepareForUse()
    return classifier


def make_header(jpype: Any, features: int, classes: int) -> Any:
    """Numeric attributes and a nominal class of codes 0, 1, ..., as MOA reads them from a file."""
    package = "com.yahoo.labs.samoa.instances"
    attribute = jpype.JClass(f"{package}.Attribute")
    new_list = jpype.JClass("java.util.ArrayList")
    codes, attributes = new_list(), new_list()
    for code in range(classes):
        codes.add(str(code))
    for feature in range(features):
        attributes.add(attribute(f"x{feature}"))
    attributes.add(attribute("class", codes))
    header = jpype.JClass(f"{package}.InstancesHeader")(
        jpype.JClass(f"{package}.Instances")("stream", attributes, 0)
    )
    header.setClassIndex(features)
    return header


def _step(jpype: Any, classifier: Any, header: Any, classes: int) -> Any:
    """A Java function double[d + 1] -> double[C]: the votes on a row, which is then learned."""
    java = jpype.java
    handles = java.lang.invoke.MethodHandles
    signature = java.lang.invoke.MethodType.methodType
    lookup = handles.publicLookup()
    instance = jpype.JClass("com.yahoo.labs.samoa.instances.Instance").class_
    dense = jpype.JClass("com.yahoo.labs.samoa.instances.DenseInstance").class_
    dataset = jpype.JClass("com.yahoo.labs.samoa.instances.Instances").class_
    learner = jpype.JClass("moa.classifiers.Classifier").class_
    doubles = jpype.JArray(jpype.JDouble).class_
    double, integer, void = java.lang.Double.TYPE, java.lang.Integer.TYPE, java.lang.Void.TYPE

    weigh = lookup.findConstructor(dense, signature(void, double, doubles))
    make = handles.insertArguments(weigh, 0, [java.lang.Double(1.0)])
    belong = lookup.findVirtual(instance, "setDataset", signature(void, dataset))
    belong = handles.insertArguments(belong, 1, [header])
    vote = lookup.findVirtual(learner, "getVotesForInstance", signature(doubles, instance))
    train = lookup.findVirtual(learner, "trainOnInstance", signature(void, instance))
    # A classifier votes on the classes it knows of, the first few: the others get 0.
    fill = lookup.findStatic(
        java.util.Arrays.class_, "copyOf", signature(doubles, doubles, integer)
    )
    fill = handles.insertArguments(fill, 1, [java.lang.Integer(classes)])

    # Each fold runs its second handle first: belong, vote, train, then the votes are the result.
    result = handles.dropArguments(handles.identity(doubles), 1, [instance])
    result = handles.foldArguments(
        result, handles.dropArguments(train.bindTo(classifier), 0, [doubles])
    )
    result = handles.foldArguments(result, handles.filterReturnValue(vote.bindTo(classifier), fill))
    result = handles.foldArguments(result, belong)
    result = handles.filterArguments(result, 0, [make.asType(signature(instance, doubles))])
    operator = jpype.JClass("java.util.function.UnaryOperator").class_
    return java.lang.invoke.MethodHandleProxies.asInterfaceInstance(operator, result)
