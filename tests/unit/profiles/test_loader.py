from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import NotFoundError, ProfileError, SimonidesError, UnknownNameError
from simonides.profiles import list_profiles
from simonides.profiles.loader import load_profile
from simonides.recall.channels.lexical import Lexical
from simonides.recall.channels.vectors import Dense
from simonides.recall.fusion import ReciprocalRank

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.recall.plan import Plan, Step

ORDER = ["terms", "lexical", "reciprocal_rank", "token_budget"]
WORDS = """
order = ["terms", "lexical", "reciprocal_rank", "token_budget"]
[stages.lexical]
depth = 7
k1 = 1.2
b = 0.75
fields = { text = 1.0 }
[stages.reciprocal_rank]
k = 60
[stages.token_budget]
count = "rendered"
label = []
"""

TWO_FUSERS = """
order = ["terms", "lexical", "reciprocal_rank", "again", "token_budget"]
[stages.again]
technique = "reciprocal_rank"
k = 1
"""


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, text: str) -> Plan:
    return load_profile(write(folder, text))


def refused(folder: Path, text: str) -> str:
    """The message of a refusal, which names the file."""
    path = write(folder, text)
    with pytest.raises((ProfileError, UnknownNameError)) as caught:
        load_profile(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def step_names(plan: Plan) -> list[str]:
    steps: tuple[Step[Any], ...] = (
        *plan.understanders,
        *plan.channels,
        plan.fuser,
        *plan.refiners,
        plan.packer,
    )
    return [step.name for step in steps]


def test_the_built_in_profiles_are_listed() -> None:
    assert {"default", "lexical"} <= set(list_profiles())
    assert list(list_profiles()) == sorted(list_profiles())


@pytest.mark.parametrize("name", list_profiles())
def test_every_built_in_profile_loads_under_its_own_name(name: str) -> None:
    plan = load_profile(name)
    assert plan.name == name
    assert plan.description


def test_the_default_profile() -> None:
    plan = load_profile("default")
    names = step_names(plan)
    assert names[:9] == [
        *("terms", "spelling", "embedding", "entities", "time_window"),
        *("dense", "lexical", "temporal", "graph"),
    ]
    assert names[9:13] == ["score_sum", "neighbours", "late_interaction", "graph_rank"]
    assert names[-2:] == ["relevance", "token_budget"]
    assert plan.limit == 10
    assert plan.channels[0].stage == Dense(depth=100, rescore=8192)
    assert plan.optional[0] == "graph"


@pytest.mark.parametrize(
    "text",
    [
        'extends = "default"\n[stages.abstention]\nleast = 0.4\n',
        'extends = "lexical"\norder = ["terms", "lexical", "reciprocal_rank", "abstention", "token_budget"]\n',
        'extends = "default"\n[stages.relevance]\ntechnique = "abstention"\n',
        'extends = "default"\n[at_most.abstention]\nhead = 3\n',
        'extends = "default"\nrequired = ["abstention"]\n',
    ],
)
def test_a_profile_with_a_stage_of_an_earlier_version_is_told_what_to_write(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        load(tmp_path, text)
    said = str(caught.value)
    assert "'abstention' became 'relevance'; write \"relevance\" in the order" in said
    assert "[stages.relevance] with weak, match, share, sure and unsure" in said
    assert "mine.toml" in said


@pytest.mark.spec("DF-12")
def test_the_lexical_profile_asks_no_embedder() -> None:
    plan = load_profile("lexical")
    assert step_names(plan) == ORDER
    assert plan.limit == 10
    assert plan.channels[0] == load_profile("default").channels[1]


@pytest.mark.spec("DF-09")
def test_a_user_writes_a_profile(tmp_path: Path) -> None:
    plan = load(tmp_path, 'name = "words"\ndescription = "Only words."\nlimit = 3\n' + WORDS)
    assert (plan.name, plan.description, plan.limit) == ("words", "Only words.", 3)
    assert plan.channels[0].stage == Lexical(7, 1.2, 0.75, {"text": 1.0})


def test_what_may_be_left_out(tmp_path: Path) -> None:
    plan = load(tmp_path, WORDS)
    assert (plan.name, plan.description, plan.limit) == ("mine", "", None)


def test_a_path_may_be_a_string(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, WORDS)
    write(tmp_path, WORDS, "plain")
    monkeypatch.chdir(tmp_path)
    assert load_profile("mine.toml").name == "mine"
    assert load_profile("./plain").name == "plain"


def test_a_child_changes_single_keys_of_its_parent(tmp_path: Path) -> None:
    plan = load(
        tmp_path,
        'extends = "default"\n[stages.lexical]\nb = 0.4\n[stages.lexical.fields]\ncontext = 0.5\n',
    )
    parent = load_profile("default")
    assert step_names(plan) == step_names(parent)
    assert (plan.name, plan.limit) == ("mine", 10)
    inherited = parent.channels[1].stage
    assert isinstance(inherited, Lexical)
    assert (inherited.b, inherited.fields["context"]) != (0.4, 0.5)
    assert plan.channels[1].stage == replace(inherited, b=0.4, fields={**inherited.fields, "context": 0.5})
    assert plan.channels[0] == parent.channels[0]


def test_a_parent_may_be_a_file_beside_the_child(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path, WORDS, "base.toml")
    write(tmp_path, 'extends = "../base.toml"\n[stages.lexical]\ndepth = 8\n', "sub/middle.toml")
    plan = load(tmp_path, 'extends = "sub/middle.toml"\n[stages.lexical]\nk1 = 0.9\n')
    assert plan.channels[0].stage == Lexical(8, 0.9, 0.75, {"text": 1.0})


def test_a_technique_runs_under_another_name(tmp_path: Path) -> None:
    plan = load(
        tmp_path,
        'extends = "lexical"\norder = ["terms", "lexical", "titles", "reciprocal_rank", "token_budget"]\n'
        '[stages.titles]\ntechnique = "lexical"\ndepth = 5\nk1 = 1.0\nb = 0.0\nfields = { context = 1.0 }\n',
    )
    assert [(step.name, step.technique) for step in plan.channels] == [
        ("lexical", "lexical"),
        ("titles", "lexical"),
    ]


def test_another_technique_starts_from_an_empty_table(tmp_path: Path) -> None:
    plan = load(
        tmp_path, 'extends = "default"\n[stages.lexical]\ntechnique = "dense"\ndepth = 5\nrescore = 9\n'
    )
    assert plan.channels[1].stage == Dense(5, 9)


def test_a_fuser_may_weigh_a_channel_that_only_the_parent_runs(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "memoria"\n[stages.reciprocal_rank.weights]\ndense = 2.0\n', "base.toml")
    order = [*ORDER[:-1], "cited_context"]
    plan = load(tmp_path, f'extends = "base.toml"\norder = {order}\noptional = []\n')
    assert plan.fuser.stage == ReciprocalRank(60, {"dense": 2.0})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nmae = 'x'", "nmae: is no key of a profile, in "),
        ("nmae = 'x'", "did you mean 'name'?"),
        ("name = 3", "name: expected a string, got 3"),
        ("extends = true", "extends: expected a string, got True"),
        ("limit = 0", "limit: expected a whole number from 1 to 10,000, got 0"),
        ("limit = true", "limit: expected a whole number from 1 to 10,000, got True"),
        ("limit = 1.5", "limit: expected a whole number from 1 to 10,000, got 1.5"),
        ("order = 'terms'", "order: expected an array of names of stages, got 'terms'"),
        ("order = ['terms', 3]", "order: expected an array of names of stages, got list"),
        ("order = []", "order: is missing or empty"),
        ("order = ['terms', 'terms']", "order: lists 'terms' twice"),
        ("stages = 3", "stages: expected tables [stages.NAME], got 3"),
        ("[stages]\nlexical = 3", "stages.lexical: expected a table [stages.lexical], got 3"),
        ("[stages.lexical]\ntechnique = 3", "stages.lexical.technique: expected a string, got 3"),
        ("[stages.lexical]\ntechnique = 'lexcal'", "stages.lexical.technique: 'lexcal' is not known in "),
        ("[stages.lexical]\ntechnique = 'lexcal'", "did you mean 'lexical'?"),
        ("[stages.lexical]\ndept = 3", "stages.lexical.dept: 'lexical' has no option 'dept'"),
        ("[stages.lexical]\ndept = 3", "did you mean 'depth'?"),
        ("[stages.lexical]\ndepth = '3'", "stages.lexical.depth: expected a whole number, got '3'"),
        ("[stages.lexical]\ndepth = 0", "stages.lexical.depth: 0 is below 1"),
        ("[stages.lexical.fields]\ntxt = 1", "stages.lexical.fields.txt: 'txt' is not known"),
        ("[stages.lexcal]\ndepth = 3", "stages.lexcal: is not in the order of "),
        ("[stages.lexcal]\ndepth = 3", "did you mean 'lexical'?"),
        ("[stages.dense]\ndepth = 3", "stages.dense: is not in the order of "),
        (
            "order = ['terms', 'lexcal', 'reciprocal_rank', 'token_budget']",
            "order: 'lexcal' is not known in ",
        ),
        ("order = ['terms', 'lexcal', 'reciprocal_rank', 'token_budget']", "did you mean 'lexical'?"),
        ("order = ['terms', 'reciprocal_rank', 'token_budget']", "order: has no channel"),
        ("order = ['terms', 'lexical', 'token_budget']", "order: needs exactly one fuser, has none"),
        ("order = ['terms', 'lexical', 'reciprocal_rank']", "order: needs exactly one packer, has none"),
        (
            "order = ['lexical', 'terms', 'reciprocal_rank', 'token_budget']",
            "order: the understander 'terms' comes after the channel 'lexical'",
        ),
        (
            TWO_FUSERS,
            "order: needs exactly one fuser, has 'reciprocal_rank', 'again'",
        ),
        (
            "[stages.reciprocal_rank.weights]\nlexcal = 2.0",
            "stages.reciprocal_rank.weights.lexcal: there is no channel 'lexcal' in ",
        ),
    ],
)
def test_what_is_wrong_is_named_with_the_file_and_the_remedy(tmp_path: Path, text: str, says: str) -> None:
    head = "" if "extends" in text else 'extends = "lexical"\n'
    assert says in refused(tmp_path, head + text)


def test_a_required_option_that_is_missing_is_named(tmp_path: Path) -> None:
    message = refused(tmp_path, WORDS.replace("depth = 7\n", ""))
    assert message.startswith("stages.lexical.depth: is missing in ")


@pytest.mark.parametrize(
    "text", ["order = [", "name = 'a'\nname = 'b'", "a = " + "[" * 10_000, "limit = 0x", "\0"]
)
def test_broken_toml_is_refused(tmp_path: Path, text: str) -> None:
    assert "is not valid TOML" in refused(tmp_path, text)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(ProfileError, match="is not valid TOML in UTF-8"):
        load_profile(tmp_path / "mine.toml")


def test_a_circle_of_parents_is_refused(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "two.toml"', "one.toml")
    write(tmp_path, 'extends = "one.toml"', "two.toml")
    with pytest.raises(
        ProfileError, match=r"extends: goes in a circle: .*one\.toml → .*two\.toml → .*one\.toml"
    ):
        load_profile(tmp_path / "one.toml")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="profile: 'defualt' is not known; did you mean 'default'"):
        load_profile("defualt")


def test_an_unknown_parent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'lexical'"):
        load(tmp_path, 'extends = "lexcal"')


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no file .*absent\.toml"):
        load_profile(tmp_path / "absent.toml")
    with pytest.raises(NotFoundError, match=r"there is no file .*absent\.toml"):
        load(tmp_path, 'extends = "absent.toml"')


def test_a_folder_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(tmp_path)


@pytest.mark.parametrize(
    "name", ["a\0.toml", "~no-such-user-here/a.toml", "\ud83d.toml", "x" * 5000 + ".toml"]
)
def test_a_name_that_can_be_no_path_is_refused(name: str) -> None:
    with pytest.raises(SimonidesError):
        load_profile(name)


@pytest.mark.spec("HX-04")
def test_what_a_parent_requires_no_child_leaves_out(tmp_path: Path) -> None:
    write(tmp_path, f'required = ["lexical"]\n{WORDS}', "parent.toml")
    child = 'extends = "parent.toml"\norder = ["embedding", "dense", "reciprocal_rank", "token_budget"]\n'
    dense = "[stages.dense]\ndepth = 1\nrescore = 1\n"
    assert "leaves out 'lexical'" in refused(tmp_path, f"{child}{dense}")
    assert "leaves out 'lexical'" in refused(tmp_path, f"{child}required = []\n{dense}")
    other = '[stages.lexical]\ntechnique = "dense"\ndepth = 1\nrescore = 1\n'
    assert "leaves out 'lexical'" in refused(tmp_path, f'extends = "parent.toml"\n{other}')
    # Under another name it is there.
    named = '[stages.words]\ntechnique = "lexical"\ndepth = 1\nk1 = 1\nb = 0\nfields = { text = 1 }\n'
    plan = load(
        tmp_path,
        f'extends = "parent.toml"\norder = ["terms", "words", "reciprocal_rank", "token_budget"]\n{named}',
    )
    assert [step.name for step in plan.channels] == ["words"]


@pytest.mark.spec("DF-03")
def test_optional_stages_and_expected_times_are_inherited_as_far_as_they_run(tmp_path: Path) -> None:
    parent = f'optional = ["terms", "lexical"]\n{WORDS}\n[expected_ms]\nterms = 1\nlexical = 2.5\n'
    plan = load_profile(write(tmp_path, parent, "parent.toml"))
    assert plan.optional == ("terms", "lexical")
    assert plan.expected_ms == {"terms": 1.0, "lexical": 2.5}
    child = load(
        tmp_path,
        'extends = "parent.toml"\norder = ["lexical", "reciprocal_rank", "token_budget"]\n'
        "[expected_ms]\ntoken_budget = 4\n",
    )
    assert child.optional == ("lexical",)
    assert child.expected_ms == {"lexical": 2.5, "token_budget": 4.0}


@pytest.mark.spec("DF-03")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('optional = ["lexicl"]', "there is no stage 'lexicl'"),
        ('optional = ["reciprocal_rank"]', "'reciprocal_rank' always runs"),
        ('optional = ["token_budget"]', "'token_budget' always runs"),
        ('optional = ["lexical"]\nrequired = ["lexical"]', "'lexical' is required"),
        ("optional = [1]", "optional: expected an array of names of stages"),
        ("required = [1]", "required: expected an array of names of techniques"),
        ("expected_ms = 1", "expected_ms: expected a table"),
        ("expected_ms = { lexical = -1 }", "expected_ms.lexical: expected a number from 0"),
        ("expected_ms = { lexical = inf }", "expected_ms.lexical: expected a number from 0"),
        ("expected_ms = { lexicl = 1 }", "did you mean 'lexical'"),
        ("at_most = 1", "at_most: expected tables"),
        ("at_most = { lexical = 1 }", "at_most.lexical: expected a table"),
        ("at_most = { lexicl = { depth = 1 } }", "did you mean 'lexical'"),
        ("at_most = { lexical = { depth = true } }", "at_most.lexical.depth: expected a number from 0"),
    ],
)
def test_slips_in_what_a_deadline_or_a_guard_rail_goes_by_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    assert message in refused(tmp_path, f"{text}\n{WORDS}")


@pytest.mark.spec("HX-15")
def test_a_guard_rail_holds_for_children_and_may_only_get_stricter(tmp_path: Path) -> None:
    write(tmp_path, f"at_most = {{ lexical = {{ depth = 7 }} }}\n{WORDS}", "parent.toml")
    child = 'extends = "parent.toml"\n[stages.lexical]\ndepth = {}\n[at_most.lexical]\ndepth = {}\n'
    assert load(tmp_path, child.format(5, 5)).at_most == {"lexical": {"depth": 5.0}}
    assert "8 is above 7" in refused(tmp_path, child.format(8, 100))
    assert "6 is above 5" in refused(tmp_path, child.format(6, 5))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[at_most.cross_encoder]\ndept = 3", "did you mean 'depth'?"),
        ('required = ["lexcal"]', "did you mean 'lexical'?"),
        (f"limit = {10**25}", "a whole number from 1 to 10,000"),
        (f"[stages.lexical]\ndepth = {10**25}", "is beyond 1e+12"),
        ("[stages.lexical]\nfields = { text = 1e308 }", "stages.lexical.fields.text: 1e+308 is beyond 1e+12"),
        (f'name = "{"x" * 300}"', "one line of at most 256 printable characters"),
        (r'description = "a\u001b[31mb"', "printable characters"),
    ],
)
def test_what_would_guard_nothing_or_break_a_stage_is_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    assert problem in refused(tmp_path, f'extends = "default"\n{text}\n')


def test_a_long_line_of_parents_is_refused(tmp_path: Path) -> None:
    for number in range(40):
        write(tmp_path, f'extends = "p{number + 1}.toml"', f"p{number}.toml")
    write(tmp_path, WORDS, "p40.toml")
    with pytest.raises(ProfileError, match="more than 16 parents"):
        load_profile(tmp_path / "p0.toml")
    assert load_profile(tmp_path / "p24.toml").name == "p24"
