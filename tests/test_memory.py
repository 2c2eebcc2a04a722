"""Adding, searching and deleting through the Python API, on real stores with the real model."""

from datetime import UTC, datetime, timedelta

import pytest

from mcp_memory.errors import InvalidInputError, NotFoundError
from mcp_memory.inputs import MAX_MESSAGES, MAX_TEXT_CHARS
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Message
from tests.conftest import Clock, Opener
from tests.log_rows import events_of, last_messages


def texts(memory: LocalMemory, query: str, **given: object) -> list[str]:
    return [hit.memory.text for hit in memory.search(query, **given).hits]  # type: ignore[arg-type]


def test_what_was_just_added_is_found_by_keyword_and_by_meaning(memory: LocalMemory) -> None:
    memory.add("The spare key hangs behind the barometer", infer=False)
    by_word, by_meaning = memory.search("barometer").hits[0], memory.search("How do I unlock the door?").hits[0]
    assert by_word.memory.text == by_meaning.memory.text == "The spare key hangs behind the barometer"
    assert by_word.signals.keyword > 0
    assert by_meaning.signals.keyword == 0
    assert by_meaning.signals.semantic > 0.15


def test_each_message_is_one_memory_in_order_with_a_receipt(memory: LocalMemory) -> None:
    result = memory.add(
        messages=[
            {"role": "user", "content": "My tram is line 28", "name": "Rui"},
            {"role": "assistant", "content": "  "},
            Message("assistant", "Line 28 leaves at nine"),
        ],
        infer=False,
        run_id="r1",
    )
    assert [receipt.status for receipt in result.results] == ["added", "ignored", "added"]
    assert result.results[1].reason == "the text is empty"
    stored = sorted(memory.list(), key=lambda record: record.position)
    assert [(record.position, record.speaker, record.kind) for record in stored] == [
        (0, "Rui", "message"),
        (1, "", "message"),
    ]


def test_positions_go_on_in_the_next_call_of_a_run(memory: LocalMemory) -> None:
    for text in ("one fish", "two fish"):
        memory.add(messages=[{"role": "user", "content": text}], infer=False, run_id="r1")
    assert sorted((record.position, record.text) for record in memory.list()) == [(0, "one fish"), (1, "two fish")]


def test_chat_blocks_are_read_as_their_text(memory: LocalMemory) -> None:
    blocks = [{"type": "text", "text": "I keep bees"}, {"type": "image", "source": "x"}]
    memory.add(messages=[{"role": "user", "content": blocks}], infer=False)
    assert texts(memory, "bees") == ["I keep bees"]


def test_the_same_text_again_is_a_duplicate_whatever_its_case_and_spacing(memory: LocalMemory) -> None:
    first = memory.add("I keep bees", infer=False).results[0]
    again = memory.add("i  keep BEES", infer=False).results[0]
    assert (again.status, again.id) == ("duplicate", first.id)
    assert len(memory.list()) == 1


def test_the_same_words_by_another_speaker_or_in_another_run_are_no_duplicate(memory: LocalMemory) -> None:
    for run, name in (("r1", "Rui"), ("r1", "Eva"), ("r2", "Rui")):
        memory.add(messages=[{"role": "user", "content": "I keep bees", "name": name}], infer=False, run_id=run)
    assert len(memory.list()) == 3


def test_a_message_repeated_within_one_call_points_at_the_first(memory: LocalMemory) -> None:
    same = {"role": "user", "content": "I keep bees"}
    first, second = memory.add(messages=[same, same], infer=False).results
    assert (second.status, second.id) == ("duplicate", first.id)


def test_a_duplicate_on_another_day_is_recorded_as_a_sighting(memory: LocalMemory) -> None:
    first = memory.add("I keep bees", infer=False, observed_at="2026-05-01").results[0]
    memory.add("I keep bees", infer=False, observed_at="2026-06-01")
    seen = [event for event in events_of(memory.stores.log, first.id) if event["operation"] == "sight"]
    assert [event["after"] for event in seen] == [{"observed_at": "2026-06-01T00:00:00+00:00"}]


def test_an_expired_memory_is_not_found_and_may_be_said_again(memory: LocalMemory, clock: Clock) -> None:
    memory.add("The gate code is 4711", infer=False, expires_at=clock.now + timedelta(hours=1))
    assert texts(memory, "gate code")
    clock.advance(hours=2)
    assert texts(memory, "gate code") == []
    assert memory.add("The gate code is 4711", infer=False).results[0].status == "added"


def test_infer_keeps_the_words_findable_and_says_that_they_are_queued(memory: LocalMemory) -> None:
    receipt = memory.add("I moved to Porto last week").results[0]
    assert receipt.status == "queued"
    assert "extraction" in receipt.reason
    assert memory.search("Porto").hits[0].memory.state == "raw"
    # Porto, and the user who moved there.
    assert memory.stats() == {"raw": 1, "entities": 2, "episodes": 1, "jobs": 1}


def test_repeating_a_queued_text_queues_no_second_job(memory: LocalMemory) -> None:
    memory.add("I moved to Porto last week")
    assert memory.add("I moved to Porto last week").results[0].status == "duplicate"
    assert memory.stats()["jobs"] == 1


def test_deleting_the_last_raw_memory_of_an_episode_cancels_its_job(memory: LocalMemory) -> None:
    receipt = memory.add("I moved to Porto last week").results[0]
    memory.delete(receipt.id)
    assert memory.stats()["jobs"] == 0


def test_a_deleted_memory_leaves_search_window_links_and_lonely_entities(memory: LocalMemory) -> None:
    memory.add("Maria Quintela repairs clocks in Braga", infer=False)
    target = memory.add("Maria Quintela owns a Norton Commando", infer=False).results[0]
    result = memory.delete(target.id)
    assert result.text == "Maria Quintela owns a Norton Commando"
    assert result.removed_entities == ("Norton Commando",)
    assert texts(memory, "Norton Commando", threshold=0.4) == []
    assert last_messages(memory.stores.log, "ana", "python", "") == ["Maria Quintela repairs clocks in Braga"]
    names = {entity.name: entity.n_linked for entity in memory.stores.log.get_entities("ana")}
    assert names == {"Maria Quintela": 1, "Braga": 1}


def test_deleting_a_turn_takes_its_words_out_of_the_next_turns_context(memory: LocalMemory) -> None:
    result = memory.add(
        messages=[{"role": "user", "content": "My locker is number 99"}, {"role": "assistant", "content": "Noted"}],
        infer=False,
        run_id="r1",
    )
    assert len(memory.search("locker 99").hits) == 2
    memory.delete(result.results[0].id)
    assert memory.search("locker 99").hits == ()


@pytest.mark.parametrize("wrong", ["", "nonsense", "0000000000zz", "d2559dgx0004' OR '1'='1"])
def test_an_unknown_id_is_answered_with_what_to_do(memory: LocalMemory, wrong: str) -> None:
    with pytest.raises(NotFoundError, match="use the id of the hit"):
        memory.delete(wrong)


def test_an_id_is_accepted_in_capitals_and_brackets_and_deletes_once(memory: LocalMemory) -> None:
    receipt = memory.add("I keep bees", infer=False).results[0]
    memory.delete(f"[{receipt.id.upper()}]")
    with pytest.raises(NotFoundError, match="was deleted on 2026-06-15"):
        memory.delete(receipt.id)


def test_another_users_memories_can_neither_be_found_nor_deleted(open_memory: Opener) -> None:
    ana = open_memory()
    receipt = ana.add("The safe opens with 8812", infer=False).results[0]
    ana.close()
    bob = open_memory(user_id="bob")
    assert bob.search("safe 8812").hits == ()
    with pytest.raises(NotFoundError):
        bob.delete(receipt.id)


def test_scopes_tell_user_agent_and_run_apart(memory: LocalMemory) -> None:
    memory.add("Prefers metric units", infer=False)
    memory.add("I answer in short lists of units", infer=False, about="agent")
    memory.as_agent("other").add("I answer with long tables of units", infer=False, about="agent")
    memory.add(messages=[{"role": "user", "content": "These units are in the run"}], infer=False, run_id="r7")
    found = {scope: texts(memory, "units", scope=scope) for scope in ("user", "agent")}
    assert sorted(found["user"]) == ["Prefers metric units", "These units are in the run"]
    assert found["agent"] == ["I answer in short lists of units"]
    assert texts(memory, "units", scope="run", run_id="r7") == ["These units are in the run"]
    assert len(texts(memory, "units")) == 4
    other = next(hit for hit in memory.search("units").hits if "tables" in hit.memory.text)
    own = next(hit for hit in memory.search("units").hits if "lists" in hit.memory.text)
    assert other.relevance < own.relevance


def test_as_of_hides_what_was_not_yet_true_and_known_at_what_was_not_yet_told(
    memory: LocalMemory, clock: Clock
) -> None:
    memory.add("The office is in Faro", infer=False, observed_at="2026-01-10")
    clock.advance(days=10)
    memory.add("The office has a parrot", infer=False, observed_at="2026-05-01")
    assert texts(memory, "office", as_of="2026-03-01") == ["The office is in Faro"]
    assert texts(memory, "office", known_at="2026-06-20") == ["The office is in Faro"]
    assert texts(memory, "office", known_at="2026-01-20") == []
    assert len(texts(memory, "office", as_of=datetime(2026, 5, 1, 12, tzinfo=UTC))) == 2


def test_an_exact_identifier_beats_its_near_twins(memory: LocalMemory) -> None:
    for number in range(1230, 1245):
        memory.add(f"Ticket QX-{number} is assigned to the night shift", infer=False)
    hits = memory.search("who works on ticket QX-1237?").hits
    assert hits[0].memory.text == "Ticket QX-1237 is assigned to the night shift"
    assert hits[0].relevance > hits[1].relevance + 0.1


def test_a_quoted_phrase_beats_the_same_words_in_another_order(memory: LocalMemory) -> None:
    memory.add("She said the river keeps the time", infer=False)
    memory.add("She said the time keeps the river", infer=False)
    assert texts(memory, 'who said "the time keeps the river"?')[0] == "She said the time keeps the river"


def test_nonsense_gets_nothing_and_the_closest_score(memory: LocalMemory) -> None:
    memory.add("I keep bees", infer=False)
    result = memory.search("zxqv blorp")
    assert result.hits == ()
    assert "Nothing relevant" in result.notice
    assert result.closest_score is not None
    assert result.closest_score < 0.05


def test_an_answer_beside_the_turn_that_names_its_subject_is_found(memory: LocalMemory) -> None:
    memory.add("Completely unrelated note about gardening", infer=False)
    memory.add(
        messages=[
            {"role": "user", "content": "What is the name of the harbour pilot?", "name": "Eva"},
            {"role": "user", "content": "Old Henrique, of course", "name": "Rui"},
        ],
        infer=False,
        run_id="r1",
    )
    hits = memory.search("harbour pilot").hits
    answer = next(hit for hit in hits if "Henrique" in hit.memory.text)
    assert answer.signals.neighbour > 0.2
    assert hits.index(answer) == 1


def test_who_said_it_is_a_signal(memory: LocalMemory) -> None:
    for name in ("Eva", "Rui"):
        memory.add(
            messages=[{"role": "user", "content": f"I adopted a dog {name[0].lower()}", "name": name}],
            infer=False,
            run_id=name,
        )
    assert memory.search("what pet did Eva adopt?").hits[0].memory.speaker == "Eva"


def test_a_long_text_is_one_memory_found_by_its_last_sentence(open_memory: Opener) -> None:
    memory = open_memory(floor=0.0)
    filler = "The committee discussed the budget of the previous quarter in detail. " * 60
    memory.add(filler + "A lighthouse keeper with a wooden leg told stories of the sea.", infer=False)
    memory.add(filler.replace("quarter", "year"), infer=False)
    hits = memory.search("a lighthouse keeper told stories").hits
    assert [hit.memory.text.endswith("of the sea.") for hit in hits] == [True, False]
    assert hits[0].signals.semantic > hits[1].signals.semantic + 0.15


LANGUAGES = [
    ("zh", "我的猫叫小黑，喜欢睡在窗台上", "猫"),
    ("ja", "私の猫は窓辺で寝るのが好きです", "窓辺"),
    ("ar", "أعمل في مستشفى المدينة منذ ثلاث سنوات", "المستشفى"),
    ("fa", "من دو کتاب‌ها درباره‌ی تاریخ خریدم", "کتاب"),
    ("ru", "Мои кошки любят спать на подоконнике", "кошка"),
    ("de", "Meine Krankenversicherung läuft im Juli aus", "Versicherung"),
    ("de", "Die Häuser am Hang wurden verkauft", "Haus"),
    ("es", "Mis vecinas compraron manzanas en el mercado", "vecina manzana"),
    ("ko", "우리 고양이를 병원에 데려갔어요", "고양이"),
    ("th", "แมวของฉันชอบนอนบนหลังคา", "แมว"),
]


@pytest.mark.parametrize(("language", "text", "query"), LANGUAGES)
def test_text_in_other_languages_is_found_by_keyword(memory: LocalMemory, language: str, text: str, query: str) -> None:
    memory.add("An English note about something else", infer=False)
    memory.add(text, infer=False)
    hit = memory.search(query).hits[0]
    assert hit.memory.text == text
    assert hit.memory.language == language
    assert hit.signals.keyword > 0


def test_inflections_are_found_when_the_language_was_met_after_the_text(memory: LocalMemory) -> None:
    memory.add("Gatos negros duermen mucho en el tejado", infer=False)
    memory.add("Ich habe auch eine Katze und einen Hund", infer=False)
    memory.add("The English note in between", infer=False)
    assert memory.search("gato").hits[0].memory.text.startswith("Gatos")


def test_entities_link_by_name_in_any_case_and_language(memory: LocalMemory) -> None:
    memory.add("I met Lucía Ferreira at the fair", infer=False)
    memory.add("mañana ceno con lucía ferreira", infer=False)
    entities = {entity.name: entity.n_linked for entity in memory.stores.log.get_entities("ana")}
    assert entities == {"Lucía Ferreira": 2}
    hits = memory.search("LUCÍA FERREIRA").hits
    assert all(hit.signals.entity == pytest.approx(0.5 / 1.001) for hit in hits)


def test_nearly_equal_names_are_one_entity_and_different_numbers_are_two(memory: LocalMemory) -> None:
    for name in ("Apollo Project 16", "Project Apollo 16", "Project Apollo 17"):
        memory.add(f'We met in the room called "{name}" again', infer=False)
    names = {entity.name: entity.n_linked for entity in memory.stores.log.get_entities("ana")}
    assert names == {"Apollo Project 16": 2, "Project Apollo 17": 1}


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": ""}, "nothing to remember"),
        ({"text": "   "}, "nothing to remember"),
        ({"text": "x", "messages": [{"role": "user", "content": "y"}]}, "both text and messages"),
        ({"text": "x" * (MAX_TEXT_CHARS + 1)}, "at most 200000"),
        ({"messages": [{"content": "x"}] * (MAX_MESSAGES + 1)}, "at most 1000"),
        ({"messages": ["x"]}, r"messages\[0\] is no object"),
        ({"messages": [{"role": "king", "content": "x"}]}, r"messages\[0\].role 'king'"),
        ({"messages": [{"content": 7}]}, r"messages\[0\].content is int"),
        ({"text": "x", "about": "moon"}, "about 'moon' is none of user, agent"),
        ({"text": "x", "kind": "rumour"}, "kind 'rumour'"),
        ({"text": "x", "observed_at": "yesterday"}, "observed_at 'yesterday'"),
        ({"text": "x", "expires_at": "2020-01-01"}, "has passed"),
        ({"text": "x", "metadata": {"k": "v" * 20_000}}, "at most 16384"),
        ({"text": "x", "metadata": {"k": float("nan")}}, "no JSON object"),
        ({"text": "x", "metadata": [["a", 1]]}, "metadata is list, no object"),
        ({"text": "x", "metadata": {"a": nested(40)}}, "nested 41 deep, at most 32"),
        ({"text": "x", "metadata": {"a": nested(5000)}}, "no JSON object"),
        ({"text": "x", "run_id": "r" * 300}, "run_id has 300"),
    ],
)
def test_bad_input_to_add_is_named_and_stores_nothing(
    memory: LocalMemory, given: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        memory.add(**given)  # type: ignore[arg-type]
    assert memory.list() == []
    assert memory.stats()["episodes"] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": ""}, "empty"),
        ({"query": "x", "top_k": 0}, r"top_k 0 is not in 1\.\.100"),
        ({"query": "x", "top_k": 101}, "top_k 101"),
        ({"query": "x", "threshold": 1.5}, "threshold 1.5"),
        ({"query": "x", "threshold": float("nan")}, "threshold nan"),
        ({"query": "x", "scope": "run"}, "needs a run_id"),
        ({"query": "x", "scope": "world"}, "scope 'world'"),
        ({"query": "x", "as_of": "soon"}, "as_of 'soon'"),
        ({"query": "x", "filters": {"colour": "red"}}, "unknown filter 'colour'"),
    ],
)
def test_bad_input_to_search_is_named(memory: LocalMemory, given: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        memory.search(**given)  # type: ignore[arg-type]


def test_top_k_bounds_the_hits_and_ranks_are_stable(memory: LocalMemory) -> None:
    memory.add(messages=[{"content": f"Bee note number {n}"} for n in range(120)], infer=False)
    for top_k in (1, 7, 100):
        assert len(memory.search("bee note", top_k=top_k).hits) == top_k
    assert memory.search("bee note").hits == memory.search("bee note").hits


def test_threshold_looks_at_relevance_of_each_hit(memory: LocalMemory) -> None:
    memory.add("I keep bees in the orchard", infer=False)
    memory.add("The tram was late", infer=False)
    strict = memory.search("bees in the orchard", threshold=0.3).hits
    assert [hit.memory.text for hit in strict] == ["I keep bees in the orchard"]
    assert all(hit.relevance >= 0.3 for hit in strict)


def test_everything_is_still_there_after_reopening(open_memory: Opener) -> None:
    memory = open_memory()
    memory.add("I keep bees in the orchard", infer=False)
    before = memory.search("bees", top_k=5)
    memory.close()
    again = open_memory().search("bees", top_k=5)
    assert [(h.memory, h.signals) for h in again.hits] == [(h.memory, h.signals) for h in before.hits]


def test_the_folders_first_user_is_remembered(open_memory: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "first-account")
    open_memory(user_id="").close()
    monkeypatch.setattr("getpass.getuser", lambda: "renamed-account")
    assert open_memory(user_id="").user_id == "first-account"


def test_list_filters_and_pages(memory: LocalMemory) -> None:
    for number in range(5):
        memory.add(f"note {number}", infer=False, metadata={"n": number})
    memory.add("a plan", infer=False, kind="plan")
    assert [r.text for r in memory.list(filters={"kind": "plan"})] == ["a plan"]
    assert [r.text for r in memory.list(filters={"metadata": {"n": 3}})] == ["note 3"]
    assert [r.text for r in memory.list(limit=2, offset=1)] == ["note 4", "note 3"]


def test_a_recent_memory_wins_a_tie_and_weights_decide_by_how_much(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory(weight_recency=1.0, weight_relevance=1.0, weight_importance=0.0, half_life_days=30)
    memory.add("The tide table hangs in the kitchen", infer=False, observed_at=clock.now - timedelta(days=30))
    hit = memory.search("tide table").hits[0]
    assert hit.signals.recency == pytest.approx(0.5)
    assert hit.score == pytest.approx((hit.relevance + 0.5) / 2)
