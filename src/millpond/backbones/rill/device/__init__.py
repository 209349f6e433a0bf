"""Rill on torch: the NumPy engine's results on a CPU or a GPU, and whole streams without leaving it.

Loaded only when it is asked for. Everything is arrays with a leading lane axis and index arithmetic on
the device: no branch depends on a value, so that a step of all lanes can be one replay of a CUDA graph.

model      the weights as tensors
cache      keys and values by slot, pending deltas
columns    what the numbers of a row become
classes    counts, last arrivals and the class of each column
engine     a pass: tokens through the layers, probabilities, what a learned row leaves behind
session    the seam, for contexts that live in NumPy
"""
