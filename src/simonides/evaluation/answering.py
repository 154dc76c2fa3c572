"""The usual protocol for question answering: retain, recall, have a model answer and another one judge.

Each history is retained in a store of its own and asked in turn; one request to the answering model and one
to the judge for each question. What a model says is written to an ``AnswerLog`` at once, so that a run which
was stopped goes on where it was, and what failed is asked again. A server that gives no answer to
``MOST_IN_A_ROW`` questions in a row ends the run; what the models retry by themselves is theirs.

Weakness: a judge errs, and more often in favour of long and vague answers; a figure says as much about both
models as about the memory. Compare runs with the same models only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from simonides.errors import ModelUnavailableError
from simonides.evaluation.answer_log import Answered
from simonides.evaluation.answer_prompts import ANSWER_SCHEMA, JUDGE_SCHEMA, answer_messages, judge_messages
from simonides.evaluation.asking import SteadyClock, retain_as_lived
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from simonides.bank import Bank
    from simonides.evaluation.answer_log import AnswerLog
    from simonides.evaluation.answer_sets import Asked, Talk
    from simonides.protocols import Embedder, Enricher

MOST_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """How questions are asked.

    Attributes:
        dataset: its name, which chooses the judge's rules.
        answerer, judge: the models.
        options: of ``Bank.recall``, such as ``max_tokens`` and ``profile``.
        embedder: as for opening a store.
    """

    dataset: str
    answerer: Enricher
    judge: Enricher
    options: Mapping[str, Any]
    embedder: Embedder | None

    def run(
        self, talks: Sequence[Talk], log: AnswerLog, progress: Callable[[str, int, int], None] | None = None
    ) -> str:
        """Ask what *log* has no judged answer to.

        Args:
            talks: histories with their questions.
            log: is read and added to.
            progress: told after each question.

        Returns:
            why the run ended early; empty when all was asked.

        Raises:
            ModelRefusedError: a model will not answer before the key, the address or its name is right.
            MissingExtraError: the package of the models' client is not installed.
            UnavailableError: the log cannot be written.
        """
        total = sum(len(talk.questions) for talk in talks)
        done = silent = 0
        for talk in talks:
            waiting = [question for question in talk.questions if not _judged(log.answered.get(question.qid))]
            done += len(talk.questions) - len(waiting)
            if not waiting:
                continue
            clock = SteadyClock()
            with (
                TemporaryDirectory(prefix="simonides-bench-") as folder,
                open_store(folder, embedder=self.embedder, clock=clock, zone=UTC) as store,
            ):
                bank = store.bank("history")
                for _ in retain_as_lived(bank, talk.corpus, clock):
                    pass
                for question in waiting:
                    answered = self._ask(bank, talk, question)
                    log.add(answered)
                    done += 1
                    if progress:
                        progress("questions", done, total)
                    silent = silent + 1 if answered.failure == "unavailable" else 0
                    if silent == MOST_IN_A_ROW:
                        return f"{MOST_IN_A_ROW} questions in a row got no answer: {answered.problem}"
        return ""

    def _ask(self, bank: Bank, talk: Talk, question: Asked) -> Answered:
        recalled = bank.recall(question.text, **self.options)
        answered = Answered(
            qid=question.qid,
            category=question.category,
            abstains=question.abstains,
            question=question.text,
            expected=question.answer,
            context_tokens=bank.count_tokens(recalled.context),
        )
        try:
            messages = answer_messages(question, recalled.context, talk.corpus.asked_at)
            said = self.answerer.complete(messages, ANSWER_SCHEMA)
            answered = replace(answered, input_tokens=said.input_tokens, output_tokens=said.output_tokens)
            answer = said.parsed.get("answer") if said.parsed else None
            if not isinstance(answer, str) or not answer.strip():
                return replace(answered, failure="answer", problem=said.problem or "it holds no answer")
            answered = replace(answered, answer=answer)
            judged = self.judge.complete(judge_messages(self.dataset, question, answer), JUDGE_SCHEMA)
        except ModelUnavailableError as error:
            return replace(answered, failure="unavailable", problem=str(error))
        answered = replace(
            answered, judge_input_tokens=judged.input_tokens, judge_output_tokens=judged.output_tokens
        )
        correct = judged.parsed.get("correct") if judged.parsed else None
        if not isinstance(correct, bool):
            return replace(answered, failure="judge", problem=judged.problem or "it holds no judgement")
        return replace(answered, correct=correct)


def answer_report(talks: Sequence[Talk], log: AnswerLog) -> dict[str, Any]:
    """What is known of the questions of *talks*; JSON-ready.

    Accuracy is the share of correct answers among those that were judged; a failure is no wrong answer and is
    counted apart. Tokens are those that were charged for the last try of each question.
    """
    asked = [question for talk in talks for question in talk.questions]
    known = [log.answered[question.qid] for question in asked if question.qid in log.answered]
    categories = sorted({question.category for question in asked})
    report = {
        "questions": len(asked),
        "waiting": len(asked) - len(known),
        **_accuracy(known),
        "by_category": {
            name: _accuracy(each for each in known if each.category == name) for name in categories
        },
        "failures": dict(sorted(Counter(each.failure for each in known if each.failure).items())),
        "tokens": {
            "context_mean": round(fmean(each.context_tokens for each in known), 1) if known else None,
            **{name: sum(getattr(each, name) for each in known) for name in _CHARGED},
        },
    }
    if any(question.abstains for question in asked):
        report["abstention"] = _accuracy(each for each in known if each.abstains)
    return report


_CHARGED = ("input_tokens", "output_tokens", "judge_input_tokens", "judge_output_tokens")


def _accuracy(answered: Iterable[Answered]) -> dict[str, Any]:
    judged = [each for each in answered if _judged(each)]
    correct = sum(each.correct is True for each in judged)
    return {
        "judged": len(judged),
        "correct": correct,
        "accuracy": round(correct / len(judged), 4) if judged else None,
    }


def _judged(answered: Answered | None) -> bool:
    return answered is not None and answered.correct is not None
