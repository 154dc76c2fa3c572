from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from simonides.backends.embedded import recall_jobs
from simonides.backends.embedded.recall_jobs import FILE, RecallJobs
from simonides.errors import UnavailableError
from simonides.records.recall import KeptJob

if TYPE_CHECKING:
    from pathlib import Path


def test_a_job_is_its_principals(tmp_path: Path) -> None:
    jobs = RecallJobs(tmp_path)
    assert jobs.find("a", "") is None
    assert not (tmp_path / FILE).exists()
    jobs.add("a", "ivo", "{}")
    jobs.add("a", "ivo", "another")
    assert RecallJobs(tmp_path).find("a", "ivo") == KeptJob("{}", None)
    assert jobs.find("a", "") is None
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.fault("N62")
def test_the_texts_that_came_first_stay(tmp_path: Path) -> None:
    jobs = RecallJobs(tmp_path)
    jobs.add("a", "", "{}")
    assert jobs.keep_texts("a", "one") == "one"
    assert jobs.keep_texts("a", "two") == "one"
    assert jobs.keep_texts("dropped", "two") == "two"
    assert jobs.find("a", "") == KeptJob("{}", "one")
    jobs.clear()
    jobs.clear()
    assert jobs.find("a", "") is None


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_jobs, "MOST_JOBS", 2)
    jobs = RecallJobs(tmp_path)
    for job in "abc":
        jobs.add(job, "", "{}")
    assert [jobs.find(job, "") is None for job in "abc"] == [True, False, False]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(UnavailableError, match=FILE):
        RecallJobs(tmp_path).add("a", "", "{}")


def test_many_threads_keep_jobs_at_once(tmp_path: Path) -> None:
    jobs = RecallJobs(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: jobs.add(f"{n:016x}", "ada", "{}"), range(200)))
    assert all(jobs.find(f"{n:016x}", "ada") for n in range(200))
