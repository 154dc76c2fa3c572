"""Whatever a caller hands in, the answer is drafts or an error that names a field."""

import json
import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from simonides.errors import InputError
from simonides.records.hygiene import shows_nothing
from simonides.records.kind import Kind, Layer
from simonides.retain.items import canonical_json, read_items

KEYS = (
    "text",
    "kind",
    "layer",
    "tags",
    "project",
    "event_time",
    "valid_from",
    "valid_to",
    "recorded_at",
    "metadata",
    "acl",
    "source",
    "context",
    "relation",
    "path",
    "salience",
    "confidence",
    "deduplicate",
    "document_id",
    "session",
    "speaker",
    "role",
    "expansion",
    "subject",
    "object",
    "single_valued",
)
# Lone surrogates and NUL included.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
CLEAN_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    ANY_TEXT,
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
    st.sampled_from([*Kind, *Layer, "2026", "2026-03", "2026-03-10", "2026-03-10T10:00Z"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(ANY_TEXT, st.integers()), inner, max_size=3)
    ),
    max_leaves=6,
)
MAPPINGS = st.dictionaries(st.one_of(st.sampled_from(KEYS), ANY_TEXT), VALUES, max_size=4)
ITEMS = st.one_of(VALUES, MAPPINGS, st.lists(st.one_of(CLEAN_TEXT, MAPPINGS, VALUES), max_size=3))
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        CLEAN_TEXT,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(CLEAN_TEXT, inner, max_size=4)),
    max_leaves=20,
)


def in_reverse(value: Any) -> Any:
    """The same value with every mapping built in the opposite order and every list as a tuple."""
    if isinstance(value, dict):
        return {key: in_reverse(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return tuple(in_reverse(inner) for inner in value)
    return value


@given(items=ITEMS, shared=st.one_of(st.just({}), MAPPINGS))
@example(items="\ud83d", shared={})
@example(items=[{"text": "x", "metadata": {"\udc00": ["\0"]}}], shared={})
@example(items=[{"text": "x", "salience": 10**400}], shared={"tags": "abc"})
def test_any_input_gives_drafts_or_an_error_that_names_a_field(items: Any, shared: dict[str, Any]) -> None:
    problem: InputError | None = None
    try:
        drafts = read_items(items, shared)
    except InputError as error:
        problem = error
    if problem is not None:
        assert problem.field
        assert len(str(problem).encode("utf-8")) < 1_000
        return
    assert len(drafts) == (len(items) if isinstance(items, list) else 1)
    for draft in drafts:
        assert draft.text.strip()
        texts = [draft.text, draft.context, draft.relation, draft.path, draft.project, draft.source]
        texts += [draft.document, draft.session, draft.speaker, draft.role, draft.expansion]
        if draft.statement is not None:
            texts += [draft.statement.name, draft.statement.subject, draft.statement.object]
            assert all(text.strip() for text in texts[-3:])
        for text in texts:
            assert "\0" not in text
            text.encode("utf-8")
        assert list(draft.tags) == sorted(set(draft.tags))
        assert list(draft.acl) == sorted(set(draft.acl))
        assert draft.salience is None or 0 <= draft.salience <= 1
        assert draft.confidence is None or 0 <= draft.confidence <= 1
        if draft.valid_from and draft.valid_to:
            assert draft.valid_from.start < draft.valid_to.start
        assert isinstance(json.loads(draft.metadata_json, parse_constant=lambda name: 1 / 0), dict)


@given(st.dictionaries(CLEAN_TEXT, JSON, max_size=4))
def test_metadata_survives_and_its_text_does_not_depend_on_order(metadata: dict[str, Any]) -> None:
    text = canonical_json(metadata, "metadata")
    assert json.loads(text) == metadata
    assert canonical_json(in_reverse(metadata), "metadata") == text


@given(st.lists(st.one_of(st.floats(), st.integers()), min_size=1, max_size=5))
def test_a_share_is_accepted_exactly_when_it_lies_between_0_and_1(values: list[float]) -> None:
    for value in values:
        accepted = not math.isnan(value) and 0 <= value <= 1
        try:
            draft = read_items("x", {"salience": value})[0]
        except InputError:
            assert not accepted
        else:
            assert accepted
            assert draft.salience == value


@given(
    st.lists(st.lists(CLEAN_TEXT.filter(lambda text: not shows_nothing(text)), max_size=3), max_size=4),
    CLEAN_TEXT,
)
def test_shared_values_mean_the_same_as_stating_them_in_each_item(
    tags: list[list[str]], project: str
) -> None:
    short = project[:60]
    stated = [{"text": f"item {n}", "tags": own, "project": short} for n, own in enumerate(tags)]
    shorter = [{"text": item["text"], "tags": item["tags"]} for item in stated]
    assert read_items(shorter, {"project": short}) == read_items(stated, {"project": "other"})
