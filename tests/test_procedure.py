"""A conversation to one procedure: complete, in order, with nothing that was not said."""

import json

import pytest

from mcp_memory.budget import count_request
from mcp_memory.errors import ModelOutputError, ModelUnavailableError
from mcp_memory.procedure import MAX_OUTPUT_TOKENS, summarise
from mcp_memory.records import Message
from tests.fakes import Answered, ScriptedModel
from tests.test_distil import CONTEXT_TOKENS, episode

TURNS = (
    Message("user", "the backup job on host orion fails"),
    Message("assistant", "I look at the log."),
    Message("tool", "$ tail /var/log/backup.log\nno space left on /mnt/vault", "shell"),
    Message("assistant", "I remove snapshots older than 30 days and run backupctl start again."),
    Message("tool", "backupctl: finished in 214 s", "shell"),
)


def steps(*given: str, goal: str = "Mend the backup job.", result: str = "The backup job has finished.") -> Answered:
    return Answered(json.dumps({"goal": goal, "steps": list(given), "result": result}))


GOOD = steps("Look at /var/log/backup.log with tail.", "Remove snapshots older than 30 days.", "Run backupctl start.")


def test_all_turns_become_one_numbered_procedure() -> None:
    distilled = summarise(episode(*TURNS), (), ScriptedModel(GOOD))
    [statement] = distilled.statements
    assert statement.text == (
        "Mend the backup job.\n1. Look at /var/log/backup.log with tail.\n2. Remove snapshots older than 30 days.\n"
        "3. Run backupctl start.\n→ The backup job has finished."
    )
    assert statement.sources == tuple(range(len(TURNS)))
    assert statement.prompt.startswith("procedure-")


def test_the_model_sees_who_did_what_in_order_and_no_secret() -> None:
    key = "gh" + "p_" + "a1B2" * 9
    model = ScriptedModel(GOOD)
    summarise(episode(*TURNS, Message("tool", f"export TOKEN={key}")), (), model)
    question = model.questions[0]
    assert (
        question.index("User: the backup job") < question.index("Tool (shell): $ tail") < question.index("Tool: export")
    )
    assert key not in json.dumps(model.requests)


def test_deleted_turns_are_not_read() -> None:
    model = ScriptedModel(GOOD)
    summarise(episode(*TURNS), {2}, model)
    assert "backup.log" not in model.questions[0]


def test_steps_with_invented_numbers_or_names_are_left_out() -> None:
    model = ScriptedModel(
        steps(
            "Look at /var/log/backup.log.",
            "Remove snapshots older than 30 days.",
            "Email Bartholomew about it 99 times.",
        )
    )
    [statement] = summarise(episode(*TURNS), (), model).statements
    assert "Bartholomew" not in statement.text
    assert "30 days" in statement.text


def test_a_reading_that_is_mostly_invented_is_asked_for_again_and_then_put_off() -> None:
    model = ScriptedModel(steps("Restart the 17 pods of Kubernetes.", "Call Bartholomew."))
    with pytest.raises(ModelOutputError):
        summarise(episode(*TURNS), (), model)
    assert len(model.requests) == 2


@pytest.mark.parametrize("bad", [Answered("no"), Answered('{"goal": "x", "steps": ["Run backupctl', is_complete=False)])
def test_an_answer_that_is_none_or_cut_decides_nothing(bad: Answered) -> None:
    with pytest.raises(ModelOutputError):
        summarise(episode(*TURNS), (), ScriptedModel(bad))


def test_where_there_are_no_steps_the_words_stay() -> None:
    distilled = summarise(episode("hello there"), (), ScriptedModel(steps(goal="", result="")))
    assert (distilled.statements, distilled.undecided) == ([], {0})


def test_a_long_conversation_is_read_in_parts_that_know_the_steps_before() -> None:
    chatter = [Message("tool", f"line {n}: " + "all is well here and there " * 60) for n in range(24)]
    model = ScriptedModel(
        steps("Look at /var/log/backup.log with tail."),
        *[steps(goal="", result="")] * 6,
        steps("Run backupctl start.", goal="", result="The backup job has finished."),
    )
    [statement] = summarise(episode(*TURNS[:3], *chatter, *TURNS[3:]), (), model).statements
    assert len(model.requests) > 2
    assert all(count_request(request) + MAX_OUTPUT_TOKENS <= CONTEXT_TOKENS for request in model.requests)
    assert "<so_far>\nLook at /var/log/backup.log with tail.\n</so_far>" in model.questions[1]
    assert statement.text.startswith("Mend the backup job.\n1. Look at")
    assert statement.text.endswith("\n2. Run backupctl start.\n→ The backup job has finished.")


CHATTER = tuple(Message("tool", f"line {n}: " + "all is well here and there " * 60) for n in range(6))


def test_a_step_that_was_taken_twice_stands_twice() -> None:
    run = "Run backupctl start."
    model = ScriptedModel(steps(run, "Look at the log.", "Remove snapshots older than 30 days.", run))
    [statement] = summarise(episode(*TURNS), (), model).statements
    assert statement.text.count(run) == 2


def test_steps_with_which_the_next_part_begins_again_stand_once_and_others_stay() -> None:
    look, run = "Look at /var/log/backup.log with tail.", "Run backupctl start."
    model = ScriptedModel(steps(look, run), steps("look at /var/log/backup.log with tail", run, run, look))
    [statement] = summarise(episode(*TURNS, *CHATTER), (), model).statements
    assert len(model.requests) == 2
    assert f"1. {look}\n2. {run}\n3. {run}\n4. {look}\n→" in statement.text


def test_a_step_is_held_against_what_the_model_has_read_and_the_steps_so_far() -> None:
    look, space, ahead = "Look at /var/log/backup.log.", "See that /mnt/vault is full.", "Remove snapshots."
    again, run = "Look at /var/log/backup.log again.", "Run backupctl start."
    # The snapshots are spoken of in the second part only, and the file in the first only.
    model = ScriptedModel(steps(look, space, "Remove snapshots older than 30 days."), steps(again, ahead, run))
    [statement] = summarise(episode(*TURNS[:3], *CHATTER, *TURNS[3:]), (), model).statements
    assert len(model.requests) == 2
    assert f"1. {look}\n2. {space}\n3. {again}\n4. {ahead}\n5. {run}\n" in statement.text


def test_no_step_of_a_long_procedure_and_no_end_of_a_long_step_is_lost() -> None:
    long = "Run backupctl start on host orion" + ", look at the log" * 30 + ", remove snapshots."
    few = [f"Look at the log, and run backupctl start on {name}." for name in ("orion", "/mnt/vault") * 30]
    [statement] = summarise(episode(*TURNS), (), ScriptedModel(steps(*few, long))).statements
    assert "60. " in statement.text
    assert f"61. {long}" in statement.text


def test_a_procedure_longer_than_a_memory_may_be_leaves_the_words() -> None:
    endless = "Run backupctl start" + ", look at the log" * 12_000
    distilled = summarise(episode(*TURNS), (), ScriptedModel(steps(endless)))
    assert (distilled.statements, distilled.undecided) == ([], set(range(len(TURNS))))


def test_a_model_that_is_away_is_reported() -> None:
    with pytest.raises(ModelUnavailableError):
        summarise(episode(*TURNS), (), ScriptedModel(ModelUnavailableError("away", hint="start it")))
