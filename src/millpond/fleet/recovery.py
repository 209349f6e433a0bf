"""A key as it was: its newest good snapshot, and the changes that the log has behind it.

Replay predicts nothing. The lane learns the rows of the log with the scores that they had, and the
backbone's caches follow.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from millpond.errors import CheckpointError, StoreError
from millpond.fleet import change
from millpond.fleet.keyed import Keyed
from millpond.fleet.pools import Pools
from millpond.fleet.store import Store
from millpond.state import State, fingerprint, named, pack, under, unpack


def snapshot(keyed: Keyed, pools: Pools) -> bytes:
    """A key and its lane as one checked piece."""
    lane: State = {} if keyed.place is None else named("lane.", pools.state(keyed.place))
    return pack({"key": keyed.name, "width": _width(keyed), **keyed.state()}, lane)


def fingerprint_of(keyed: Keyed, pools: Pools) -> str:
    """SHA-256 of all that decides the answers of a key, and of those that it gave."""
    facts: State = {} if keyed.place is None else pools.facts(keyed.place)
    return fingerprint(keyed.state(), facts)


def recover(name: str, make: Callable[[str], Keyed], pools: Pools, store: Store) -> Keyed:
    """A key as it was when it last changed; StoreError if that cannot be told any more."""
    problems: list[str] = []
    keyed = make(name)
    for n, content in store.snapshots(name):
        try:
            _restore(keyed, n, pools, content)
            break
        except CheckpointError as error:
            problems.append(f"snapshot {n}: {error}")
            keyed = make(name)
    try:
        _replay(keyed, pools, store)
        if keyed.operations != store.head(name):
            raise StoreError(f"changes behind number {keyed.operations:,} are missing")
    except StoreError as error:
        if keyed.place is not None:
            pools.leave(keyed.place)
        found = "; ".join([*problems, str(error)])
        raise StoreError(f"the key {name} cannot be recovered: {found}") from error
    return keyed


def _restore(keyed: Keyed, n: int, pools: Pools, content: bytes) -> None:
    meta, arrays = unpack(content, Path("it"))
    if (meta.get("key"), meta.get("operations")) != (keyed.name, n):
        raise CheckpointError(f"it is change {meta.get('operations')} of {meta.get('key')}")
    keyed.restore(meta)
    if meta["width"]:
        keyed.place = pools.enter(meta["width"], under("lane.", arrays))


def _replay(keyed: Keyed, pools: Pools, store: Store) -> None:
    for record in store.changes(keyed.name, keyed.operations):
        request, made = change.read(record)
        learned = keyed.apply(request, made)
        if learned is not None:
            settle(keyed, pools, len(learned[0]))
            assert keyed.place is not None
            pools.learn([keyed.place], [learned[0]], [learned[1]], [made.score])


def settle(keyed: Keyed, pools: Pools, width: int) -> None:
    """A lane for a key that is to learn its first row, or its first one of more columns."""
    place = keyed.place
    if place is not None and place.width == width:
        return
    if place is None:
        keyed.place = pools.enter(width)
        return
    state = pools.state(place)
    pools.leave(place)
    keyed.place = pools.enter(width, state)


def _width(keyed: Keyed) -> int:
    return 0 if keyed.place is None else keyed.place.width
