"""Labelling rules. Each takes T (B, n, S) target columns and gives labels (B, n) below `classes`.

`second` (B, n) says which rows follow the second concept; `classes` is (B, 1).
"""

from __future__ import annotations

import torch
from pretraining.draws import Draws
from torch import Tensor
from torch.nn.functional import one_hot, pad


def relate(draw: Draws, T: Tensor) -> Tensor:
    """Replace some columns by products, comparisons, distances or near-equality of two columns."""
    B, _, S = T.shape
    other, kind = T.roll(1, -1), draw.rand(B, 1, S)
    out = torch.where(kind < 0.12, T * other, T)
    out = torch.where((kind >= 0.12) & (kind < 0.26), T.gt(other).float() * 2 - 1, out)
    out = torch.where((kind >= 0.26) & (kind < 0.36), (T - other).abs() - 1, out)
    same = ((T * 1.5).round() == (other * 1.5).round()).float() * 3 - 1
    out = torch.where((kind >= 0.36) & (kind < 0.44), same, out)
    return torch.where(draw.coin(0.4, B, 1, 1), out, T)


def _two(table: Tensor, key: Tensor, second: Tensor) -> Tensor:
    """Look keys up in the first or the second concept's table: (2, B, K), (B, n) -> (B, n)."""
    return torch.where(second, table[1].gather(1, key), table[0].gather(1, key))


def _table(draw: Draws, B: int, K: int, classes: Tensor) -> Tensor:
    """(2, B, K) random class of each key; the first keys cover all classes."""
    table = draw.below(classes, 2, B, K)
    k = torch.arange(K, device=draw.device)
    cover = (k + draw.below(classes, 2, B, 1)) % classes
    return torch.where(k < classes, cover, table)


def scores(draw: Draws, T: Tensor, second: Tensor, classes: Tensor, most: int) -> Tensor:
    """The class of largest linear (sometimes quadratic) score."""
    B, _, S = T.shape
    ridge = (T * T - 1).tanh()
    bend = draw.coin(0.5, B, 1, 1)
    total = []
    for _ in range(2):
        linear = torch.bmm(T, draw.randn(B, S, most))
        total.append(linear + torch.bmm(ridge, draw.randn(B, S, most)) * bend)
    value = torch.where(second[..., None], total[1], total[0])
    value = value + draw.randn(B, 1, most) * draw.rand(B, 1, 1) * 2
    dead = torch.arange(most, device=T.device) >= classes[..., None]
    return value.masked_fill(dead, -torch.inf).argmax(-1)


def bins(draw: Draws, T: Tensor, second: Tensor, classes: Tensor, most: int) -> Tensor:
    """Quantile bins of one score, mapped to classes; uneven bins make rare classes."""
    B, n, S = T.shape
    value = torch.bmm(T, draw.randn(B, S, 2))
    value = torch.where(second, value[..., 1], value[..., 0])
    rank = value.argsort(1).argsort(1).float() / n
    rank = rank ** (0.3 + 2.2 * draw.rand(B, 1) ** 2)
    count = classes + (draw.rand(B, 1) ** 2 * 14).long()
    count = torch.where(draw.coin(0.7, B, 1), classes, count)
    table = _table(draw, B, most + 16, classes)
    return _two(table, (rank * count).long().minimum(count - 1), second)


def prototypes(draw: Draws, T: Tensor, second: Tensor, classes: Tensor, most: int) -> Tensor:
    """The class of the nearest prototype; prototypes are rows of the stream, and may move."""
    B, n, S = T.shape
    K = most + 40
    place = T.gather(1, draw.ints(0, n, B, K)[..., None].expand(-1, -1, S))
    moved = place + draw.randn(B, K, S) * 1.5 * (T.abs().amax(1, keepdim=True) > 0)
    count = classes + (draw.rand(B, 1) ** 3 * 38).long()
    dead = torch.arange(K, device=T.device) >= count  # (B, K)
    far = torch.stack([torch.cdist(T, place), torch.cdist(T, moved)])
    near = far.masked_fill(dead[:, None], torch.inf).argmin(-1)  # (2, B, n)
    return _two(_table(draw, B, K, classes), torch.where(second, near[1], near[0]), second)


def tree(draw: Draws, T: Tensor, second: Tensor, classes: Tensor) -> Tensor:
    """An oblivious decision tree of depth 1 to 7 with a random class at each leaf."""
    B, n, _ = T.shape
    D = 7
    live = (T.abs().amax(1) > 0).sum(1, keepdim=True).clamp(min=1)
    column = draw.below(live, B, D)
    value = T.gather(2, column[:, None].expand(-1, n, -1))
    # Thresholds are values of random rows: every split divides.
    cut = value.gather(1, draw.ints(0, n, B, 2, D)) + 1e-4
    bit = torch.where(second[..., None], value > cut[:, 1:], value > cut[:, :1])
    depth = 1 + (draw.rand(B, 1, 1) ** 1.5 * D).long()
    bit = bit & (torch.arange(D, device=T.device) < depth)
    leaf = (bit.long() << torch.arange(D, device=T.device)).sum(-1)
    return _two(_table(draw, B, 2**D, classes), leaf, second)


def clusters(draw: Draws, cluster: Tensor, second: Tensor, classes: Tensor) -> Tensor:
    """The row's cluster (anti-causal: the features come from the label)."""
    table = _table(draw, len(cluster), 96, classes)
    table[1] = torch.where(draw.coin(0.5, len(cluster), 1), table[0], table[1])
    return _two(table, cluster, second)


def chessboard(draw: Draws, T: Tensor, second: Tensor, classes: Tensor) -> Tensor:
    """A field of tiles: the sum of tile numbers modulo the classes, or a class for each tile."""
    B, _, S = T.shape
    use = torch.arange(S, device=T.device) < draw.ints(1, 3, B, 1, 1)
    tile = ((T * draw.log_uniform(0.4, 2, B, 1, 1) + draw.rand(B, 1, S)).floor() * use).long()
    modulo = (tile.sum(-1) % classes + second.long()) % classes
    key = (tile * torch.tensor([7 * 31 ** (i % 5) + i for i in range(S)], device=T.device)).sum(-1)
    return torch.where(
        draw.coin(0.5, B, 1), modulo, _two(_table(draw, B, 509, classes), key % 509, second)
    )


def momentum(draw: Draws, T: Tensor, second: Tensor, classes: Tensor) -> Tensor:
    """Up or down: a smooth score against its own recent mean, in quantile bins."""
    B, n, S = T.shape
    value = torch.bmm(T, draw.randn(B, S, 1))[..., 0]
    decay = int(draw.number(2, 64, log=True))
    total = pad(value.cumsum(1), (1, 0))
    t = torch.arange(n, device=T.device)
    start = (t - decay).clamp(min=0)
    mean = (total[:, t] - total[:, start]) / (t - start).clamp(min=1)
    change = torch.where(second, mean - value, value - mean)
    rank = change.argsort(1).argsort(1).float() / n
    return (rank * classes).long().minimum(classes - 1)


def cards(draw: Draws, B: int, n: int, classes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hands: ranks and suits (B, n, 2 G) of G = 7 places, their use (B, 2 G), and labels (B, n).

    The rule depends on equalities and order among columns: numbers of equal pairs, runs, flushes,
    comparisons, sums. Places change at different speeds, as in a lexicographically sorted table:
    the slowest hold for long stretches, the quickest are random.
    """
    G = 7
    held = draw.ints(2, G + 1, B, 1)  # places in use
    place = torch.arange(G, device=draw.device)
    values, suits = draw.ints(2, 14, B, 1, 1), draw.ints(1, 5, B, 1, 1)
    t = torch.arange(n, device=draw.device)[None, :, None]
    # (B, 1, G) changes over the stream: from under one for the slowest place to one a row.
    first, grow = draw.log_uniform(0.5, n, B, 1, 1), draw.log_uniform(1.5, 40, B, 1, 1)
    rate = first * grow ** draw.permutation(B, 1, G)
    rate = torch.where(draw.coin(0.4, B, 1, 1), float(n), rate).clamp(max=n)
    segment = (t * rate / n).long().clamp(max=n - 1)
    rank = draw.below(values, B, n, G).gather(1, segment)
    climb = (draw.below(values, B, 1, G) + segment) % values
    rank = torch.where(draw.coin(0.5, B, 1, 1) & (rate < n), climb, rank)
    suit = draw.below(suits, B, n, G).gather(1, segment)
    used = place < held[..., None]  # (B, 1, G)
    both = used[..., None] & used[..., None, :] & (place[:, None] < place)
    equal = (rank[..., None] == rank[..., None, :]) & both
    pairs = equal.sum((-1, -2))
    top = rank.masked_fill(~used, -1).amax(-1)
    low = rank.masked_fill(~used, 99).amin(-1)
    straight = (pairs == 0) & (top - low == held - 1)
    flush = ((suit == suit[..., :1]) | ~used).all(-1)
    hand = pairs + 22 * straight + 44 * (flush & draw.coin(0.6, B, 1))
    bigger = ((rank[..., None] > rank[..., None, :]) & both).sum((-1, -2))
    highest = rank.masked_fill(~used, -1).argmax(-1)
    sums = (rank * used).sum(-1)
    match = (rank == rank[..., :1]).masked_fill(~used, False).sum(-1)
    rule = draw.ints(0, 7, B, 1)
    key = hand
    for i, value in enumerate((bigger, highest, sums, match)):
        key = torch.where(rule == i + 3, value, key)
    # Frequent keys first: a class for each key until the classes run out, then shared.
    seen = one_hot(key.clamp(max=127), 128).sum(1)
    order = seen.argsort(1, descending=True).argsort(1).gather(1, key.clamp(max=127))
    spread = draw.coin(0.5, B, 1)
    label = torch.where(spread, order.minimum(classes - 1), order % classes)
    return (
        torch.cat([rank, suit], -1).float(),
        torch.cat([used, used & (suits > 1)], -1)[:, 0],
        label,
    )
