"""`simonides recall --tier async` and `simonides get-job`, with a language model in this process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from simonides.testing.chat_server import ChatServer, spoken

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli, CliJson

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http")]

LATER = ("recall", "Who looks after the insects?", "--profile", "lexical", "--tier", "async")


@pytest.mark.spec("HX-17")
def test_a_job_is_named_then_answered_and_shown_again(
    cli: Cli, cli_json: CliJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("retain", "Ivo Skarn keeps bees behind the mill.")
    with ChatServer(spoken("Ivo keeps bees.")) as server:
        monkeypatch.setenv("SIMONIDES_LLM_MODEL", "a-model")
        monkeypatch.setenv("SIMONIDES_LLM_BASE_URL", server.url)
        done = cli(*LATER, "--helper", "query2doc")
        assert done.exit_code == 0, done.stderr
        assert "Ivo Skarn keeps bees behind the mill." in done.stdout
        job = re.search(r"job ([0-9a-f]{32}) started", done.stderr)
        assert job
        monkeypatch.delenv("SIMONIDES_LLM_MODEL")
        shown = cli_json("get-job", job[1])
        assert (shown["id"], shown["status"]) == (job[1], "done")
        assert shown["helpers"] == {"query2doc": ["Ivo keeps bees."]}
        assert shown["recall"]["hits"][0]["text"] == "Ivo Skarn keeps bees behind the mill."
        context = cli("get-job", job[1], "--context")
    assert context.stdout.rstrip("\n") == shown["recall"]["context"]
    assert len(server.requests) == 1


def test_a_fault_is_a_note_and_an_unknown_job_an_error(cli: Cli) -> None:
    cli("retain", "Ivo Skarn keeps bees behind the mill.")
    plain = cli("recall", "Who keeps bees?", "--profile", "lexical", "--tier", "async", "--helper", "hyde")
    assert plain.exit_code == 0
    assert "hyde: no language model is set up" in plain.stderr
    assert cli("get-job", "0" * 32).exit_code == 1
    assert "no job" in cli("get-job", "0" * 32).stderr
    wrong = cli("recall", "Who keeps bees?", "--helper", "hyde")
    assert wrong.exit_code == 2
    assert "helpers" in wrong.stderr
