"""Episodes to statements: what the model is shown, which messages it is not asked about, what it is not believed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mcp_memory.budget import count_request
from mcp_memory.distil import MAX_OUTPUT_TOKENS, distil
from mcp_memory.errors import ModelOutputError, ModelUnavailableError
from mcp_memory.records import Episode, Message, Owner
from mcp_memory.shown import Surroundings
from tests.fakes import NOTHING, Answered, ScriptedModel, facts

SAID = datetime(2026, 3, 11, 18, tzinfo=UTC)
# The smallest context that the settings allow.
CONTEXT_TOKENS = 4096
NOBODY = Surroundings()


def episode(*messages: str | Message, about: str = "user") -> Episode:
    turns = tuple(message if isinstance(message, Message) else Message("user", message) for message in messages)
    return Episode(
        id="01kq8z3m5v2v",
        owner=Owner("ana", "claude"),
        messages=turns,
        infer=True,
        about=about,  # type: ignore[arg-type]
        kind="message",
        run_id="r1",
        observed_at=SAID,
        created_at=SAID,
        expires_at=None,
        metadata={},
    )


def test_a_statement_knows_its_message_its_language_and_its_prompt() -> None:
    model = ScriptedModel(NOTHING, facts("Der Nutzer mag den Winter nicht."))
    distilled = distil(episode("hello there, nice to meet you", "Ich mag den Winter nicht."), (), NOBODY, model)
    [statement] = distilled.statements
    assert (statement.sources, statement.about, statement.language) == ((1,), "user", "de")
    assert statement.prompt.startswith("extract-")
    assert not statement.is_verbatim
    assert len(model.requests) == 2


def test_the_message_stands_last_marked_and_with_its_language() -> None:
    model = ScriptedModel()
    distil(episode("Ich mag den Winter nicht."), (), NOBODY, model)
    assert model.questions[0].endswith("<message>\nIch mag den Winter nicht.\n</message>\nFacts in German:")


def test_relative_dates_are_annotated_and_the_day_is_named() -> None:
    model = ScriptedModel()
    distil(episode("I see the dentist tomorrow."), (), replace(NOBODY, now=SAID + timedelta(days=3)), model)
    assert "tomorrow (2026-03-12)" in model.questions[0]
    assert "Said on Wednesday 2026-03-11. Today is Saturday 2026-03-14." in model.questions[0]


def test_what_was_said_before_stands_above_and_resolves_pronouns() -> None:
    model = ScriptedModel(facts("Oswin bakes rye bread."))
    earlier = (Message("user", "my brother Oswin joined the brigade", "Ana"), Message("assistant", "Congratulations!"))
    distilled = distil(episode("he bakes rye bread"), (), replace(NOBODY, earlier=earlier), model)
    assert "User (Ana): my brother Oswin joined the brigade\nAssistant: Congratulations!" in model.questions[0]
    assert [statement.text for statement in distilled.statements] == ["Oswin bakes rye bread."]


def test_earlier_messages_of_the_same_call_stand_above_too() -> None:
    model = ScriptedModel()
    distil(episode("my brother Oswin is here", Message("assistant", "Nice."), "he bakes bread"), (), NOBODY, model)
    assert "User: my brother Oswin is here\nAssistant: Nice." in model.questions[-1]


def test_known_statements_and_the_users_profile_are_shown_numbered() -> None:
    model = ScriptedModel()
    around = Surroundings(profile="Ana, a crane planner.", known=("Oswin is the user's brother.", "Ana keeps bees."))
    distil(episode("he visited me"), (), around, model)
    assert "<user>\nAna, a crane planner.\n</user>" in model.questions[0]
    assert "<known>\n1. Oswin is the user's brother.\n2. Ana keeps bees.\n</known>" in model.questions[0]


def test_the_newest_earlier_turns_are_kept_when_there_are_too_many() -> None:
    model = ScriptedModel()
    earlier = tuple(Message("user", f"turn number {n}: " + "and so it went on " * 20) for n in range(40))
    distil(episode("I moved to Ghent"), (), replace(NOBODY, earlier=earlier), model)
    assert "turn number 39" in model.questions[0]
    assert "turn number 0:" not in model.questions[0]


@pytest.mark.parametrize("word", ["supercalifragilistic ", "я помню ", "私は猫が好きです。", "4111-xyz ", "اسمي آنا "])
def test_no_request_exceeds_the_context_however_much_there_is(word: str) -> None:
    model = ScriptedModel()
    long = word * (6_000 // len(word))
    around = Surroundings(
        profile=long, known=(long,) * 9, earlier=tuple(Message("user", long) for _ in range(12)), now=SAID
    )
    distil(episode(f"I live in Ghent. {long}"), (), around, model)
    assert len(model.requests) > 1
    assert max(count_request(request) for request in model.requests) < (CONTEXT_TOKENS - 2 * MAX_OUTPUT_TOKENS)


def test_each_part_of_a_long_message_is_read_after_the_end_of_the_one_before() -> None:
    model = ScriptedModel(facts("The user lives in Ghent."), NOTHING)
    distil(episode("I live in Ghent. " + "The weather was fine. " * 400 + "My cat is called Moth."), (), NOBODY, model)
    assert "I live in Ghent." in model.questions[0]
    assert "User: … " in model.questions[1]
    assert "My cat is called Moth." in model.questions[-1]


def test_questions_tools_systems_and_empty_messages_are_not_asked_about() -> None:
    model = ScriptedModel()
    messages = (
        Message("user", "What's the capital of Peru?"),
        Message("tool", "exit status 0, I am done"),
        Message("system", "I am a system prompt"),
        Message("user", "  "),
        Message("assistant", "Lima is the capital of Peru."),
    )
    assert distil(episode(*messages), (), NOBODY, model).statements == []
    assert model.requests == []


def test_what_was_pasted_or_merely_asked_is_not_shown() -> None:
    model = ScriptedModel()
    said = "it's for my shop. can you tell me what is wrong?\n```\nI am a comment\n```"
    distil(episode(said), (), NOBODY, model)
    assert "<message>\nit's for my shop.\n</message>" in model.questions[0]
    assert "comment" not in model.questions[0]


def test_what_is_only_pasted_keeps_its_words_where_it_is_a_note_or_was_said_to_be_kept() -> None:
    model = ScriptedModel()
    code = "```\nport = 8080\n```"
    note = replace(episode(code), kind="note")
    asked = episode("Remember this:\n" + code, code, "what is wrong here?\n" + code)
    assert [distil(said, (), NOBODY, model).undecided for said in (note, asked)] == [{0}, {0}]
    assert model.requests == []


def test_thanks_are_not_asked_about_but_a_short_answer_is() -> None:
    model = ScriptedModel()
    distil(episode("ok, thanks!", Message("assistant", "Do you have children?"), "yes!"), (), NOBODY, model)
    assert ["<message>\nyes!" in question for question in model.questions] == [True]


def test_own_sentences_beside_a_task_are_read_again_alone_where_the_model_saw_nothing() -> None:
    model = ScriptedModel(NOTHING, facts("The user prefers tabs in JavaScript.", kind="wish"))
    distilled = distil(episode("Make this async please. In my JavaScript I prefer tabs."), (), NOBODY, model)
    assert "<message>\nIn my JavaScript I prefer tabs.\n</message>" in model.questions[1]
    assert [statement.text for statement in distilled.statements] == ["The user prefers tabs in JavaScript."]


def test_a_riddle_is_not_taken_apart() -> None:
    model = ScriptedModel()
    distil(episode("I have cities but no houses. What am I?"), (), NOBODY, model)
    assert len(model.requests) == 1


def test_statements_beside_a_gate_that_says_nothing_count_where_somebody_states_them_of_themselves() -> None:
    answer = facts("The user's NAS is a Synology.", "The format is fine.", kind="other")
    message = "My NAS is a Synology. The format is fine."
    distilled = distil(episode(message), (), NOBODY, ScriptedModel(answer))
    assert [(item.text, item.gate) for item in distilled.statements] == [
        ("The user's NAS is a Synology.", "about_user")
    ]


def test_what_is_to_be_remembered_cannot_be_called_nothing() -> None:
    kinds: list[list[str]] = []

    def ask(_request: object, schema: Any, _limit: int) -> Answered:
        kinds.append(schema["properties"]["kind"]["enum"])
        return NOTHING

    distil(episode("Remember that the key is under the mat.", "I have a cat."), (), NOBODY, ask)
    assert ["other" in enum for enum in kinds] == [False, True]


def test_what_the_assistant_says_of_itself_goes_through_its_own_prompt_into_its_own_memories() -> None:
    model = ScriptedModel(facts("The assistant raised the timeout to 90."))
    distilled = distil(episode(Message("assistant", "Done, I raised the timeout to 90.")), (), NOBODY, model)
    assert [statement.about for statement in distilled.statements] == ["agent"]
    assert distilled.statements[0].prompt.startswith("agent-")


def test_an_assistant_that_only_confirms_what_it_was_told_gives_no_memory_of_its_own() -> None:
    said = facts("The assistant has noted the permit KX71 VBD.", "The assistant raised the timeout to 90 seconds.")
    model = ScriptedModel(facts("The user has the permit KX71 VBD."), said)
    answer = Message("assistant", "I have noted the permit KX71 VBD, and I raised the timeout to 90 seconds.")
    distilled = distil(episode("my permit is KX71 VBD", answer), (), NOBODY, model)
    assert [(statement.about, statement.text) for statement in distilled.statements] == [
        ("user", "The user has the permit KX71 VBD."),
        ("agent", "The assistant raised the timeout to 90 seconds."),
    ]


def test_a_short_correction_is_read_together_with_what_it_corrects() -> None:
    model = ScriptedModel(facts("The user's lease ends in June."))
    distilled = distil(episode("My lease ends in May.", "Sorry, I meant June."), (), NOBODY, model)
    assert "My lease ends in May (2026-05).\nSorry, I meant June." in model.questions[0]
    assert len(model.requests) == 1
    assert [statement.sources for statement in distilled.statements] == [(0, 1)]


def test_secrets_never_reach_the_model_not_even_as_context() -> None:
    model = ScriptedModel()
    key = "gh" + "p_" + "a1B2" * 9
    around = Surroundings(known=(f"key {key}",), earlier=(Message("user", f"my token is {key}"),), now=SAID)
    distil(episode(f"I moved to Ghent, and use {key} for the api"), (), around, model)
    assert all(key not in message["content"] for request in model.requests for message in request)
    assert "[secret]" in model.questions[0]


def test_a_secret_that_is_a_date_is_neither_shown_nor_stored() -> None:
    answer = facts("The user's wifi password is tomorrow (2026-03-12).", "The user moved to Ghent.")
    model = ScriptedModel(answer)
    distilled = distil(episode("I moved to Ghent. My wifi password is tomorrow."), (), NOBODY, model)
    assert "My wifi password is [secret]." in model.questions[0]
    assert [statement.text for statement in distilled.statements] == ["The user moved to Ghent."]


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("I moved to Turin.", "The user moved to Turin."),
        ("I live in Turin now.", "The user lives in Turin now."),
        ("my cat is called Miso", "The user's cat is called Miso."),
        ("Ich wohne in Graz.", "Der Nutzer wohnt in Graz."),
    ],
)
def test_nothing_is_not_believed_of_a_sentence_that_tells_of_oneself_with_a_name_or_of_a_change(
    said: str, statement: str
) -> None:
    model = ScriptedModel(NOTHING, facts(statement))
    distilled = distil(episode(said), (), NOBODY, model)
    assert [item.text for item in distilled.statements] == [statement]
    assert len(model.requests) == 2


def test_where_a_model_insists_on_nothing_the_words_stay() -> None:
    distilled = distil(episode("I moved to Turin."), (), NOBODY, ScriptedModel(NOTHING))
    assert (distilled.statements, distilled.undecided) == ([], {0})


@pytest.mark.parametrize(
    "said", ["I'm so tired today", "I need a poem about Turin", "What do I do in Turin?", "ok thanks"]
)
def test_nothing_is_believed_of_moods_orders_and_questions(said: str) -> None:
    distilled = distil(episode(said), (), NOBODY, ScriptedModel(NOTHING))
    assert (distilled.statements, distilled.undecided) == ([], set())


def test_messages_left_out_are_neither_read_nor_shown() -> None:
    model = ScriptedModel()
    distil(episode("I have a rash.", "I sing in a choir."), {0}, NOBODY, model)
    assert len(model.requests) == 1
    assert "rash" not in model.questions[0]


def test_a_statement_that_does_not_hold_gives_way_to_the_persons_words() -> None:
    model = ScriptedModel(facts("The user has eaten meat for two years."))
    distilled = distil(episode("I haven't eaten meat for two years."), (), NOBODY, model)
    [statement] = distilled.statements
    assert statement.text == "I haven't eaten meat for two years."
    assert statement.is_verbatim


def test_what_is_not_dated_does_not_take_the_day_on_which_it_was_said() -> None:
    model = ScriptedModel(facts("The user moved to Ghent on 2026-03-11."))
    distilled = distil(episode("I moved to Ghent."), (), NOBODY, model)
    assert [statement.text for statement in distilled.statements] == ["I moved to Ghent."]


def test_a_date_that_the_model_leaves_out_is_put_back() -> None:
    model = ScriptedModel(facts("The user moved to Ghent.", "The user drinks tea."))
    distilled = distil(episode("yesterday I moved to Ghent, and I still drink tea"), (), NOBODY, model)
    assert [item.text for item in distilled.statements] == [
        "The user moved to Ghent (2026-03-10).",
        "The user drinks tea.",
    ]


def test_an_unusable_answer_is_asked_for_once_more() -> None:
    model = ScriptedModel(Answered("I'd rather not."), facts("The user lives in Ghent."))
    distilled = distil(episode("I live in Ghent."), (), NOBODY, model)
    assert [statement.text for statement in distilled.statements] == ["The user lives in Ghent."]
    assert model.requests[1][: len(model.requests[0])] == model.requests[0]


def test_two_unusable_answers_decide_nothing() -> None:
    with pytest.raises(ModelOutputError):
        distil(episode("I live in Ghent."), (), NOBODY, ScriptedModel(Answered("no"), Answered('{"facts": []}')))


def test_of_cut_answers_the_complete_statements_count_and_the_message_keeps_its_words() -> None:
    cut = Answered('{"kind": "about_user", "facts": ["The user lives in Ghent.", "The user ha', is_complete=False)
    distilled = distil(episode("I live in Ghent and I have a cat."), (), NOBODY, ScriptedModel(cut))
    assert [statement.text for statement in distilled.statements] == ["The user lives in Ghent."]
    assert distilled.undecided == {0}


def test_the_words_of_an_assistant_do_not_stay_for_want_of_a_better_reading() -> None:
    cut = Answered('{"kind": "about_user", "facts": ["The assistant ha', is_complete=False)
    turn = Message("assistant", "I have raised the timeout to 90 seconds.")
    assert distil(episode(turn), (), NOBODY, ScriptedModel(cut)).undecided == set()
    assert distil(episode(turn, about="agent"), (), NOBODY, ScriptedModel(cut)).undecided == {0}


def test_a_model_that_is_away_is_reported_and_decides_nothing() -> None:
    away = ModelUnavailableError("away", hint="start it")
    with pytest.raises(ModelUnavailableError):
        distil(episode("I live in Ghent."), (), NOBODY, ScriptedModel(away))


def test_a_secret_is_hidden_where_it_is_said_again_without_its_noun() -> None:
    model = ScriptedModel(facts("The user typed hunter2x at the door."))
    said = episode("The password of my lab is hunter2x", "I typed hunter2x at the door of my lab")
    distilled = distil(said, (), NOBODY, model)
    assert "hunter2x" not in str(model.requests)
    assert "hunter2x" not in str(distilled.statements)


@pytest.mark.parametrize(
    "copied", ["Oskvald, the user's brother-in-law, gets up at 3 every day.", "The user keeps bees."]
)
def test_where_a_model_speaks_of_something_else_the_words_stay(copied: str) -> None:
    distilled = distil(episode("I am allergic to penicillin"), (), NOBODY, ScriptedModel(facts(copied)))
    assert (distilled.statements, distilled.undecided) == ([], {0})
