"""What the package is made of is pinned, looked up, listed, and neither runs files nor asks the network."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OWN_GROUPS = {"encryption", "fuzz", "mutation", "train"}
"""Dependency groups that are installed apart and not locked."""


def pinned() -> dict[str, tuple[str, list[str]]]:
    """Version and hashes by name, of every block of the lock file."""
    found = {}
    text = LOCK.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, version = re.match(r"([\w.\-]+)(?:\[[^]]*\])?==(\S+)", line).groups()  # type: ignore[union-attr]
            found[_name(name)] = (version, re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line))
    return found


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _wanted() -> set[str]:
    groups = PROJECT["dependency-groups"]
    listed = [
        *PROJECT["project"]["dependencies"],
        *(each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra),
        *(each for name, group in groups.items() if name not in OWN_GROUPS for each in group),
    ]
    return {_name(re.match(r"[\w.\-]+", each)[0]) for each in listed}  # type: ignore[index]


def test_every_dependency_is_pinned_with_its_hashes() -> None:
    locked = pinned()
    assert _wanted() <= locked.keys(), "run: make lock"
    assert all(hashes for _, hashes in locked.values())
    assert "://" not in LOCK.read_text(encoding="utf-8")


BANNED_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
BANNED_CALLS = {"eval", "exec", "__import__"}
BANNED_METHODS = {("yaml", "load"), ("yaml", "unsafe_load"), ("torch", "load"), ("pandas", "read_pickle")}


def runs_files(tree: ast.AST) -> Iterator[str]:
    """What a module holds that runs, or may run, what lies in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = {module or "", *(alias.name for alias in node.names)}
            yield from (name for name in names if name.partition(".")[0] in BANNED_MODULES)
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in BANNED_CALLS:
            yield called.id
        owner = called.value if isinstance(called, ast.Attribute) else None
        method = (getattr(owner, "id", ""), getattr(called, "attr", ""))
        if method in BANNED_METHODS:
            yield ".".join(method)
        for keyword in node.keywords:
            if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", True) is not False:
                yield "allow_pickle"


@pytest.mark.fault("X5")
def test_nothing_in_the_package_runs_what_lies_in_a_file() -> None:
    found = {
        str(path.relative_to(ROOT)): list(runs_files(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted((ROOT / "src").rglob("*.py"))
    }
    assert len(found) > 300
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib.memory",
        "eval('1')",
        "yaml.load(text)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=trusted)",
        "torch.load(path)",
    ],
)
def test_what_runs_files_would_be_seen(line: str) -> None:
    assert list(runs_files(ast.parse(line)))


def test_what_only_looks_like_it_is_let_through() -> None:
    assert not list(
        runs_files(ast.parse("np.load(path, allow_pickle=False); model.eval(); yaml.safe_load(t)"))
    )


@pytest.mark.fault("X5")
def test_the_linter_bans_them_too() -> None:
    lint = PROJECT["tool"]["ruff"]["lint"]
    assert lint["select"] == ["ALL"]
    assert not {"S301", "S302", "S307", "S506", "S614", "TID251"} & set(lint["ignore"])
    assert {"pickle", "joblib", "marshal", "shelve", "torch.load"} <= lint["flake8-tidy-imports"][
        "banned-api"
    ].keys()
    ignored = {rule for place, rules in lint["per-file-ignores"].items() if "src" in place for rule in rules}
    assert not {"S", "S301", "S307", "S506", "S614", "TID251"} & ignored


IMPORT_ALL = """
import importlib, json, pkgutil, sys
asked = []
def watch(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"}:
        asked.append(f"{event} {arguments[1:]!r}")
sys.addaudithook(watch)
import simonides
done, missing = [], []
for found in pkgutil.walk_packages(simonides.__path__, "simonides.", onerror=lambda name: None):
    if found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
        done.append(found.name)
    except ImportError as error:
        missing.append(f"{found.name}: {error}")
print(json.dumps({"asked": asked, "done": len(done), "missing": missing}))
"""


def test_importing_every_module_asks_no_network() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "SIMONIDES_OFFLINE"}
    answer = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        timeout=120,
    )
    found = json.loads(answer.stdout)
    assert found["asked"] == []
    assert found["done"] > 300
    # Only packages of extras may be missing, and each says so.
    assert all("install" in line or "No module named" in line for line in found["missing"]), found["missing"]


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOUND: dict[str, Any] = {"dependencies": [{"name": "apsw", "version": "3.54", "vulns": []}]}
ILL: dict[str, Any] = {
    "dependencies": [
        {"name": "apsw", "version": "3.54", "vulns": [{"id": "PYSEC-2099-1", "fix_versions": ["3.55"]}]}
    ]
}
UNKNOWN: dict[str, Any] = {"dependencies": [{"name": "apsw", "skip_reason": "not found"}]}


@pytest.mark.parametrize(
    ("answer", "ci", "stated", "status", "said"),
    [
        ((SOUND, ""), "", "", 0, "1 locked dependencies, none with a known vulnerability"),
        ((SOUND, ""), "true", "", 0, "none with a known vulnerability"),
        ((ILL, ""), "", "", 1, "VULNERABLE: apsw 3.54: PYSEC-2099-1; fixed in 3.55"),
        (
            (UNKNOWN, ""),
            "",
            "",
            0,
            "NOT AUDITED: the advisory service knows nothing of 1 of 1 packages (apsw)",
        ),
        ((UNKNOWN, ""), "true", "", 1, "NOT AUDITED"),
        (({}, "no answer within 300 seconds"), "", "", 0, "NOT AUDITED: no answer"),
        (({}, "no answer within 300 seconds"), "true", "", 1, "NOT AUDITED: no answer"),
        (({}, "no answer within 300 seconds"), "true", "offline", 0, "NOT AUDITED: AUDIT=offline, so"),
    ],
)
def test_what_was_not_looked_up_is_never_called_sound(
    audit: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: tuple[dict[str, Any], str],
    ci: str,
    stated: str,
    status: int,
    said: str,
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("AUDIT", stated)
    monkeypatch.setattr(sys, "argv", ["audit.py"])
    monkeypatch.setattr(audit, "ask", lambda _: answer)
    assert audit.main() == status
    printed = capsys.readouterr().out
    assert said in printed
    assert ("none with a known" in printed) == (answer[0] is SOUND)


def test_a_service_out_of_reach_is_told(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "Traceback\nConnectionError: no route")

    monkeypatch.setattr(subprocess, "run", fail)
    assert audit.ask(LOCK) == ({}, "the advisory service cannot be asked (ConnectionError: no route)")
