"""More to tell apart: memories that answer nothing are put beside those that are asked for.

They come from the other corpora of the data set, conversations whole and in their order, drawn by a seed;
when those run out, from invented memories (``synthetic``).
Keys are ``distractor-<n>``, so none can be gold, and
no text is taken that equals one of the corpus.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.evaluation.dataset import Item
from simonides.evaluation.synthetic import synthetic_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.evaluation.dataset import Corpus, Dataset

PREFIX = "distractor-"


def with_distractors(dataset: Dataset, count: int, seed: int, more: Iterable[Corpus] = ()) -> Dataset:
    """*dataset* with *count* distractors after the items of each corpus.

    Args:
        dataset: what is measured.
        count: per corpus, from 0.
        seed: the same seed gives the same distractors.
        more: corpora to draw from beside the other ones of the data set.

    Raises:
        InputError: *count* is below 0.
    """
    if count < 0:
        raise InputError("distractors", f"{count} is below 0; give a number of memories, or 0 for none")
    sources = [*(corpus for corpus, _ in dataset.corpora), *more]
    corpora = []
    for corpus, questions in dataset.corpora:
        others = [source for source in sources if source.name != corpus.name]
        added = tuple(_drawn(corpus, others, count, seed))
        corpora.append((replace(corpus, items=(*corpus.items, *added)), questions))
    return replace(dataset, corpora=tuple(corpora))


def _drawn(corpus: Corpus, others: list[Corpus], count: int, seed: int) -> Iterator[Item]:
    own = {item.text for item in corpus.items}
    source = random.Random(f"{seed} {corpus.name}")  # noqa: S311 not for secrets
    groups = [group for other in others for group in _groups(other)]
    source.shuffle(groups)
    taken = [item for group in groups for item in group if item.text not in own][:count]
    for place, item in enumerate(taken):
        yield replace(item, key=f"{PREFIX}{place}")
    invented = synthetic_items(count - len(taken), source.randrange(2**32))
    for place, fields in enumerate(invented, start=len(taken)):
        yield Item(f"{PREFIX}{place}", fields["text"], fields["event_time"])


def _groups(corpus: Corpus) -> list[list[Item]]:
    """Sessions whole, named apart from those of other corpora; an item without one by itself."""
    groups: list[list[Item]] = []
    for session, members in groupby(corpus.items, key=lambda item: item.session):
        items = list(members)
        if session:
            groups.append([replace(item, session=f"{PREFIX}{corpus.name}-{session}") for item in items])
        else:
            groups += [[item] for item in items]
    return groups
