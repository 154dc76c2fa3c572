from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.evaluation.datasets import load_locomo, load_musique
from simonides.profiles.loader import load_profile
from simonides.recall.understanding import router as module
from simonides.recall.understanding.router import SKIPPED, Router, read_examples, read_past
from simonides.records.kind import RECALLED, Kind
from simonides.testing.fakes import FakeView, fake_memory, fake_query, fake_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Embedder
    from simonides.records.query import Query

DATA = Path(__file__).parents[3] / "data"
LISTS = [*read_examples()["skip"], *read_examples()["retrieve"]]
AXIS = {name: axis for axis, name in enumerate(LISTS)}
ROUTER = Router(
    mode="filter",
    skip_margin=0.2,
    skip_floor=0.5,
    short_words=0,
    short_floor=0.9,
    kind_margin=0.3,
    project_margin=0.3,
    sampled=100,
)


def towards(**parts: float) -> NDArray[np.float32]:
    """A unit vector with these parts along the axes of lists."""
    vector = np.zeros(len(LISTS))
    for name, part in parts.items():
        vector[AXIS[name]] = part
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass(frozen=True)
class AxisEmbedder:
    """Every example lies on the axis of its list; any other text has the vector handed in."""

    others: Mapping[str, Sequence[float]]
    fingerprint: str
    name: str = "axis"
    dimension: int = len(LISTS)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        if text in self.others:
            return np.array(self.others[text], np.float32)
        for lists in read_examples().values():
            for name, texts in lists.items():
                if text in texts:
                    return towards(**{name: 1.0})
        raise LookupError(text)


EMBEDDER = AxisEmbedder({}, "axis-1")


@pytest.fixture(autouse=True)
def _forget_embedders() -> Iterator[None]:
    module._by_embedder.clear()
    yield
    module._by_embedder.clear()


def route(
    vector: NDArray[np.float32] | None,
    *,
    router: Router = ROUTER,
    view: FakeView | None = None,
    text: str = "some words",
    embedder: Any = EMBEDDER,
    **query: Any,
) -> Query:
    asked = fake_query(text, vector=vector, **query)
    return router.understand(view or FakeView.of([]), asked, fake_tools(embedder=embedder))


@pytest.mark.spec("HX-03")
def test_a_prompt_that_needs_no_memory_is_skipped() -> None:
    routed = route(towards(arithmetic=1.0, semantic=0.5))
    assert routed.skip == SKIPPED
    assert routed.notes == ("skipped_by_router: 0.89 near to arithmetic, 0.45 to what needs a memory",)


@pytest.mark.spec("HX-03")
@pytest.mark.parametrize(
    "vector",
    [
        towards(semantic=1.0),
        towards(arithmetic=1.0, semantic=0.9),  # ahead, but not by the margin
        towards(arithmetic=0.4, formatting=0.4, greeting=0.4, thanks=0.4, random=0.4),  # below the floor
    ],
)
def test_in_doubt_nothing_is_skipped(vector: NDArray[np.float32]) -> None:
    assert route(vector).skip == ""


@pytest.mark.spec("HX-03")
def test_what_is_like_the_memories_of_the_bank_is_not_skipped() -> None:
    vector = towards(arithmetic=1.0)
    view = FakeView.of([fake_memory("a sum")], vectors=[vector.tolist()])
    assert route(vector).skip == SKIPPED
    assert route(vector, view=view).skip == ""
    unseen = FakeView.of([fake_memory("a sum")], vectors=[vector.tolist()], visible=[False])
    assert route(vector, view=unseen).skip == SKIPPED


@pytest.mark.spec("HX-03")
def test_words_of_the_past_and_known_names_keep_a_query() -> None:
    vector = towards(arithmetic=1.0)
    assert route(vector, text="add what we paid").skip == ""
    view = FakeView.of([fake_memory("a")], entities=[["Odalys"]])
    assert route(vector, text="add Odalys", view=view).skip == ""
    assert route(vector, text="add Odalys").skip == SKIPPED
    assert route(vector, entities=(3,)).skip == ""
    assert route(vector, hints=("Odalys",)).skip == ""


@pytest.mark.spec("HX-03")
def test_few_words_are_skipped_only_if_they_are_nearly_an_example() -> None:
    router = replace(ROUTER, short_words=2)
    assert route(towards(thanks=1.0), router=router, text="thanks").skip == SKIPPED
    assert route(towards(thanks=1.0, code=0.6), router=router, text="thanks card").skip == ""
    assert route(towards(thanks=1.0, code=0.6), router=router, text="three words now").skip == SKIPPED


@pytest.mark.spec("HX-03")
def test_kinds_near_the_best_stay() -> None:
    vector = towards(code=1.0, procedural=0.9, semantic=0.1)
    routed = route(vector, view=FakeView.of([fake_memory("a", kind=Kind.CODE)]))
    assert routed.routed_kinds == (Kind.PROCEDURAL, Kind.CODE)
    # Where no memory is of those kinds nothing would be left to look at, so all stays.
    assert route(vector, view=FakeView.of([fake_memory("a")])).routed_kinds == ()


@pytest.mark.spec("HX-03")
def test_what_was_routed_narrows_in_the_filter_mode_and_only_there() -> None:
    view = FakeView.of([fake_memory("a", kind=Kind.CODE), fake_memory("b")])
    routed = route(towards(code=1.0), view=view)
    assert (routed.routed_kinds, routed.narrow) == ((Kind.CODE,), True)
    assert routed.notes == ("looked at code only",)
    assert view.narrowed(routed.routed_kinds, routed.routed_project).eligible.tolist() == [True, False]
    boosted = route(towards(code=1.0), view=view, router=replace(ROUTER, mode="boost"))
    assert (boosted.routed_kinds, boosted.narrow) == ((Kind.CODE,), False)
    assert boosted.notes == ("prefers code",)


@pytest.mark.spec("HX-03")
def test_the_kinds_of_the_bank_count_as_the_examples_do() -> None:
    # The query is like a question about code, and like the decisions of this bank.
    vector = towards(code=1.0, with_memory=1.0)
    view = FakeView.of(
        [fake_memory("a", kind=Kind.DECISION), fake_memory("b", kind=Kind.EPISODIC)],
        vectors=[towards(with_memory=1.0).tolist(), towards(semantic=1.0).tolist()],
    )
    assert route(vector, view=view).routed_kinds == ()  # code is not there
    routed = route(vector, view=view, router=replace(ROUTER, kind_margin=0.36))
    assert routed.routed_kinds == (Kind.DECISION, Kind.CODE)


@pytest.mark.spec("HX-03")
def test_a_project_is_routed_when_it_lies_ahead_of_all_others() -> None:
    near, far = towards(with_memory=1.0, semantic=0.3).tolist(), towards(semantic=1.0).tolist()
    view = FakeView.of(
        [
            fake_memory("a", project="mill"),
            fake_memory("b", project="farm"),
            fake_memory("c"),
        ],
        vectors=[near, far, far],
    )
    router = replace(ROUTER, kind_margin=2.0)
    routed = route(towards(with_memory=1.0), view=view, router=router)
    assert (routed.routed_project, routed.narrow) == ("mill", True)
    # Memories of no project stay, too.
    assert view.narrowed((), "mill").eligible.tolist() == [True, False, True]
    assert route(towards(semantic=1.0), view=view, router=router).routed_project is None
    tight = replace(router, project_margin=0.97)
    assert route(towards(with_memory=1.0), view=view, router=tight).routed_project is None


@pytest.mark.spec("HX-03")
def test_explicit_filters_are_never_widened() -> None:
    view = FakeView.of(
        [fake_memory("a", kind=Kind.CODE), fake_memory("b", kind=Kind.CODE)], eligible=[False, True]
    )
    assert view.narrowed((Kind.CODE,), None).eligible.tolist() == [False, True]


def test_without_a_vector_nothing_is_routed() -> None:
    assert route(None) == fake_query("some words")
    assert route(None, embedder=None) == fake_query("some words")


def test_an_embedder_that_fails_on_the_examples_leaves_recall_without_a_router() -> None:
    zero = AxisEmbedder({read_examples()["skip"]["greeting"][0]: [0.0] * len(LISTS)}, "zero")

    @dataclass(frozen=True)
    class Broken(AxisEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise RuntimeError

    for embedder in (zero, Broken({}, "broken")):
        routed = route(towards(arithmetic=1.0), embedder=embedder)
        assert (routed.skip, routed.routed_kinds) == ("", ())
        assert routed.notes == ("the embedder gives no vectors for the router's examples",)


def test_examples_are_embedded_once_per_embedder() -> None:
    asked: list[str] = []

    @dataclass(frozen=True)
    class Counting(AxisEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return AxisEmbedder.encode(self, texts)

    for _ in range(3):
        route(towards(semantic=1.0), embedder=Counting({}, "counting"))
    assert len(asked) == len(set(asked)) == sum(len(v) for t in read_examples().values() for v in t.values())
    for n in range(6):
        route(towards(semantic=1.0), embedder=AxisEmbedder({}, f"axis-{n}"))
    assert len(module._by_embedder) == 4


@pytest.mark.spec("HX-03")
def test_the_package_ships_labelled_examples() -> None:
    examples = read_examples()
    texts = [text for lists in examples.values() for some in lists.values() for text in some]
    assert len(texts) >= 200
    assert len(set(texts)) == len(texts)
    assert {kind.value for kind in RECALLED} <= set(examples["retrieve"])
    assert not read_past().isdisjoint({"we", "yesterday"})
    unseen = (DATA / "router_unseen_skips.txt").read_text(encoding="utf-8").splitlines()
    assert len(unseen) == len(set(unseen)) == 100
    assert set(unseen).isdisjoint(texts)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"skip_margin": -0.1}, "skip_margin"),
        ({"kind_margin": 2.1}, "kind_margin"),
        ({"project_margin": float("nan")}, "project_margin"),
        ({"skip_floor": 1.1}, "skip_floor"),
        ({"short_floor": -1.1}, "short_floor"),
        ({"short_words": -1}, "short_words"),
        ({"sampled": -1}, "sampled"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"{field}: "):
        replace(ROUTER, **options)


def helix_router() -> Router:
    stage = next(step.stage for step in load_profile("helix").understanders if step.name == "router")
    assert isinstance(stage, Router)
    return stage


def skipped(texts: Sequence[str], embedder: Embedder) -> list[str]:
    """Those that the router of helix skips for a bank that knows nothing, where it is least careful."""
    view, tools, router = FakeView.of([]), fake_tools(embedder=embedder), helix_router()
    queries = [fake_query(text, vector=embedder.encode_query(text)) for text in texts]
    return [query.text for query in queries if router.understand(view, query, tools).skip]


@pytest.mark.model
@pytest.mark.spec("HX-03")
def test_true_skips_of_unseen_prompts(default_embedder: Embedder) -> None:
    unseen = (DATA / "router_unseen_skips.txt").read_text(encoding="utf-8").splitlines()
    assert len(skipped(unseen, default_embedder)) >= 80


@pytest.mark.model
@pytest.mark.spec("HX-03")
def test_what_a_bank_is_asked_in_few_words_or_other_languages_is_hardly_ever_skipped(
    default_embedder: Embedder,
) -> None:
    asked = (DATA / "router_never_skip.txt").read_text(encoding="utf-8").splitlines()
    assert len(asked) > 80
    assert len(skipped(asked, default_embedder)) <= 1


@pytest.mark.model
@pytest.mark.spec("HX-03")
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_false_skips_of_questions_that_need_memory(
    default_embedder: Embedder, data_folder: Path, every: int
) -> None:
    datasets = (load_locomo(data_folder / "locomo"), load_musique(data_folder / "musique"))
    questions = [question.text for dataset in datasets for question in dataset.questions][::every]
    assert len(questions) > 1_000 / every
    assert len(skipped(questions, default_embedder)) <= 0.005 * len(questions)
