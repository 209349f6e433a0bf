"""A fleet: many keyed streams, each a lane of one session over one shared frozen backbone.

    operation   what is asked of a key: predict a row, learn a label; and the answer
    change      what an operation did, as the log has it: the live fleet makes changes, recovery only
                applies them
    keyed       one key's memory beside its lane: columns, labels, what waits, what was answered
    pools       lanes: one session for all keys whose rows have the same number of columns
    residents   which keys are in memory; the least recently used go to the store and come back
    store       SQLite: snapshots of keys, and the log of changes since
    recovery    a key from its newest good snapshot and the log behind it
    combining   callers that come together are served by one of them, in one batch
    fleet       the verbs

Where state lives. All that decides a key's future is its `Keyed` and its lane (rows, labels, scores,
the backbone's caches). Both go into a snapshot together, so that a key that was spilled comes back bit
for bit. Between snapshots a durable fleet logs every change, with the probabilities that were answered,
and replay never predicts.

How a batch goes. The operations of one key keep their order; the first of every key make up a round. In
a round all rows that need the backbone go through it in one call for each pool, then all labelled rows
are learned in one call. After the last round one commit makes the batch durable; only then is anyone
answered.

Keys of different widths have sessions of their own: a key never sees what another one sends, nor pays
for its columns; one whose rows get wider moves to another pool.
"""

from millpond.fleet.fleet import Fleet
from millpond.fleet.operation import Answer, Operation

__all__ = ["Answer", "Fleet", "Operation"]
