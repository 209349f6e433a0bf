"""`StreamClassifier` in the shape that other libraries expect, and their streams as ours.

One file a library, imported only by who uses it: `millpond.adapters.river`, `.sklearn`, `.capymoa`.
"""
