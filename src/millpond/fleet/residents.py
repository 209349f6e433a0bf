"""The keys in memory: the least recently used go to the store, and come back bit for bit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from millpond.errors import StoreError
from millpond.fleet.keyed import Keyed
from millpond.fleet.pools import Pools
from millpond.fleet.recovery import recover, snapshot
from millpond.fleet.store import Store


class Residents:
    """At most ``most`` keys; what is asked for is brought in, what is not was used longest ago."""

    def __init__(self, most: int, pools: Pools, store: Store, make: Callable[[str], Keyed]) -> None:
        self.most = most
        self.spilled = self.returned = 0
        self._pools, self._store, self._make = pools, store, make
        self._keys: OrderedDict[str, Keyed] = OrderedDict()
        self._known = set(store.names())

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Keyed]:
        return iter(self._keys.values())

    def get(self, name: str) -> Keyed | None:
        """A key that is in memory; asking is not using."""
        return self._keys.get(name)

    @property
    def known(self) -> set[str]:
        """The names of all keys that have ever changed, in memory or not."""
        return self._known

    def bring(self, names: Sequence[str]) -> list[Keyed | StoreError]:
        """These keys (at most ``most``, each once), new ones empty; an error for one that is lost."""
        wanted = set(names)
        missing = [name for name in names if name not in self._keys]
        spare = (name for name in list(self._keys) if name not in wanted)
        for _ in range(len(self._keys) + len(missing) - self.most):
            self._spill(next(spare))
        found: list[Keyed | StoreError] = []
        for name in names:
            keyed = self._keys.get(name)
            if keyed is None:
                try:
                    keyed = self._keys[name] = self._make_or_recover(name)
                except StoreError as error:
                    found.append(error)
                    continue
            self._keys.move_to_end(name)
            found.append(keyed)
        return found

    def settle(self, keyed: Keyed) -> None:
        """A key was asked: one that has changed is known from now on; a new one that has not is none."""
        if keyed.operations:
            self._known.add(keyed.name)
        else:
            self._keys.pop(keyed.name, None)

    def save(self, keyed: Keyed) -> None:
        """A snapshot, if anything has changed since the last."""
        if keyed.saved != keyed.operations:
            self._store.save(keyed.name, keyed.operations, snapshot(keyed, self._pools))
            keyed.saved = keyed.operations

    def drop(self, name: str) -> None:
        """Out of memory, whatever has changed: the store alone says what it was."""
        keyed = self._keys.pop(name, None)
        if keyed is not None and keyed.place is not None:
            self._pools.leave(keyed.place)

    def reread(self) -> None:
        """After a rollback: the keys that the store knows, and no other."""
        self._known = set(self._store.names())

    def _make_or_recover(self, name: str) -> Keyed:
        if name not in self._known:
            return self._make(name)
        self.returned += 1
        return recover(name, self._make, self._pools, self._store)

    def _spill(self, name: str) -> None:
        self.save(self._keys[name])
        self.drop(name)
        self.spilled += 1
