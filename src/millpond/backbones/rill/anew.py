"""Contexts told anew: what a session follows when the caches of a saved one are another network's."""

from __future__ import annotations

from collections.abc import Iterator

from millpond.context import Contexts, Deltas


def told_anew(contexts: Contexts) -> Iterator[Deltas]:
    """Each row that is there as if it came now, lane by lane in order of arrival.

    A row of the long bank is promoted when the next one comes: the newest of a lane is never long.
    """
    for lane, banks in enumerate(contexts.banks):
        slots = contexts.slots_of(lane)
        arrivals = contexts.arrival[lane, slots]
        for place, slot in enumerate(slots):
            deltas = Deltas.empty([lane])
            deltas.added[:], deltas.added_arrival[:] = slot, arrivals[place]
            if 0 < place <= banks.n_long:
                deltas.promoted[:] = slots[place - 1]
                deltas.promoted_arrival[:] = arrivals[place - 1]
            yield deltas
