"""How README and start page are read by the script that follows them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
        spec = importlib.util.spec_from_file_location("check_start", ROOT / "scripts" / "check_start.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "check_start", module)
        spec.loader.exec_module(module)
        return module


PAGE = """
```console
$ say hello     # politely
hello
$ be quiet
```

```python
print(1)
```

```text
1
```

```python
print(2)
```

```text
2
```
"""


def test_commands_and_the_program_come_in_the_order_of_the_page(script: ModuleType) -> None:
    found = [(step.command, step.shown) for step in script.steps(PAGE)]
    assert found == [("say hello     # politely", "hello\n"), ("be quiet", ""), ("", "1\n2\n")]


@pytest.mark.parametrize(
    ("printed", "errors", "has_model", "same"),
    [
        ("[1] Oslo\n", "", True, True),
        ("[1] Rome\n", "", True, False),
        ("[1] Oslo\n", "a warning", True, False),
        ("[1] possibly: Oslo\n", "run `simonides models pull`", False, True),
        ("[1] possibly: Oslo\n", "run `simonides models pull`", True, False),
        ("[1] possibly: Oslo\n", "no remedy", False, False),
        ("[1] possibly: Rome\n", "run `simonides models pull`", False, False),
    ],
)
def test_an_answer_is_as_shown(
    script: ModuleType, tmp_path: Path, printed: str, errors: str, *, has_model: bool, same: bool
) -> None:
    reader = script.Reader("", tmp_path, {}, tmp_path, (), has_model=has_model)
    assert reader._as_shown(printed, errors, "[1] Oslo\n") is same


def test_nothing_that_a_reader_has_to_type_is_passed_over(script: ModuleType) -> None:
    for page in script.PAGES:
        fences = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("```")]
        followed = {"```console", "```python", "```text", "```"}
        assert set(fences[::2]) <= followed
        assert script.steps(page.read_text(encoding="utf-8"))
