"""Messages to statements, by a language model: one small call a message, and nothing that it returns is believed.

Code does what code can: secrets leave the text before the model sees it, relative dates are annotated, questions are
passed over, and every statement is checked against its source. A message that the model cannot be trusted with is
reported as undecided, and its own words stay.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import regex

from . import budget
from .asking import Answer, Ask, repaired
from .dates import annotate
from .disclose import disclosed, spoken_secrets, without_spoken
from .errors import ModelOutputError
from .guards import (
    Source,
    check,
    dates_beside,
    find_flaw,
    names_in,
    names_the_user,
    only_confirms,
    only_repeats_a_request,
    own_words,
    without_repetition,
)
from .prompts import Prompt, Task, language_name, load_prompt
from .records import About, Episode, Message
from .redact import PLACEHOLDER
from .replies import AGENT_SCHEMA, EXTRACTION_SCHEMA, KEEPING_SCHEMA, Extraction, Gate, read_extraction
from .shown import Surroundings, days_line, earlier_blocks, known_blocks, turn_line
from .sift import (
    CODE,
    QUOTE,
    asks_to_remember,
    has_word,
    holds_only_pasted,
    is_mere_courtesy,
    is_only_asking,
    is_own_statement,
    is_question,
    is_riddle,
    language_of,
    readable,
    says_to_keep,
    sentences,
    speaks_in_first_person,
)
from .tense import speaks_of_change
from .text import detect_language
from .written_dates import dates_in

MAX_OUTPUT_TOKENS = 320
# The share of the message in one request; the others are those of `shown`, and rules and examples take at most 1,200.
MESSAGE_TOKENS = 160
# How much of the part before stands above a later part of one long message.
_TAIL_TOKENS = 120
_MAX_CORRECTION_CHARS = 200
_CORRECTION = regex.compile(
    r"^\W*(?:(?:oh|oops|ups|sorry|wait|no)\W+)*(?:i meant\b|correction\b|sorry\W+(?:i|not|it'?s)\b|scratch that\b"
    r"|ich meinte\b|korrektur\b|quise decir\b|perdón\W+(?:quise|no|es)\b|je voulais dire\b|volevo dire\b"
    r"|quis dizer\b|я имел[а]? в виду\b|说错了|我是说|間違え|じゃなくて|قصدت)",
    regex.IGNORECASE,
)
_REPAIR = "That is no answer in the form asked for. Give the JSON object only, with kind and short facts."


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a message says. `is_verbatim`: the person's own words, because the model's did not hold."""

    sources: tuple[int, ...]  # 0-based positions of its messages in the episode
    text: str
    about: About
    gate: Gate
    language: str
    prompt: str
    is_verbatim: bool = False


@dataclass(slots=True)
class Distilled:
    """What came of an episode: statements in order, and the messages whose own words are to stay as they are."""

    statements: list[Statement] = field(default_factory=list)
    undecided: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One message, or several joined ones, to be read by the model."""

    sources: tuple[int, ...]
    text: str
    task: Task
    about: About
    earlier: tuple[Message, ...]
    # Whether its own words are worth keeping where the model's reading will not do; an assistant's turns are not.
    keeps_words: bool


def distil(episode: Episode, left_out: Container[int], around: Surroundings, ask: Ask) -> Distilled:
    """What an episode says that is worth keeping; messages in `left_out` are neither read nor shown.

    Raises:
        ModelUnavailableError: the model did not answer; nothing of the episode has been decided.
        ModelOutputError: its answers were no answers, twice for one message.
    """
    distilled = Distilled()
    secrets = spoken_secrets(message.content for message in (*around.earlier, *episode.messages))
    episode = replace(episode, messages=_hidden(episode.messages, secrets))
    around = replace(around, earlier=_hidden(around.earlier, secrets))
    for reading in _readings(episode, left_out, around):
        for statement in _read(reading, episode, around, ask, distilled):
            _note(statement, distilled)
    return distilled


def _hidden(said: Sequence[Message], secrets: Collection[str]) -> tuple[Message, ...]:
    return tuple(replace(message, content=without_spoken(message.content, secrets)) for message in said)


def _note(statement: Statement, distilled: Distilled) -> None:
    """Add a statement, or where it has been made already the messages that it comes from too."""
    for place, known in enumerate(distilled.statements):
        if (known.text, known.about) == (statement.text, statement.about):
            sources = dict.fromkeys(known.sources + statement.sources)
            distilled.statements[place] = replace(known, sources=tuple(sources))
            return
    distilled.statements.append(statement)


def _readings(episode: Episode, left_out: Container[int], around: Surroundings) -> Iterator[_Reading]:
    """The messages that may hold something, corrections joined to what they correct."""
    shown = [(place, message) for place, message in enumerate(episode.messages) if place not in left_out]
    earlier = list(around.earlier)
    place = 0
    while place < len(shown):
        source, message = shown[place]
        sources = [source]
        before = tuple(earlier)
        earlier.append(message)
        text = message.content
        while (
            message.role == "user"
            and place + 1 < len(shown)
            and (follower := _correction_after(shown, place)) is not None
        ):
            earlier += [item for _, item in shown[place + 1 : follower + 1]]
            place = follower
            sources.append(shown[place][0])
            text = f"{text}\n{shown[place][1].content}"
        place += 1
        if message.role == "assistant" or episode.about == "agent":
            if speaks_in_first_person(text):
                yield _Reading(tuple(sources), text, "agent", "agent", before, episode.about == "agent")
        elif message.role == "user" and not _says_nothing(text, before):
            yield _Reading(tuple(sources), text, "extract", "user", before, keeps_words=True)


def _says_nothing(text: str, before: Sequence[Message]) -> bool:
    # To a question "yes" is an answer.
    is_asked = bool(before) and before[-1].role == "assistant" and is_question(before[-1].content)
    return not text.strip() or is_only_asking(text) or (is_mere_courtesy(text) and not is_asked)


def _correction_after(shown: Sequence[tuple[int, Message]], place: int) -> int | None:
    """Where the next message of the user stands, if it is short and corrects this one."""
    for follower in range(place + 1, len(shown)):
        message = shown[follower][1]
        if message.role == "user":
            is_correction = len(message.content) <= _MAX_CORRECTION_CHARS and _CORRECTION.search(message.content)
            return follower if is_correction else None
    return None


def _read(
    reading: _Reading, episode: Episode, around: Surroundings, ask: Ask, distilled: Distilled
) -> Iterator[Statement]:
    is_to_keep = episode.kind == "note" or says_to_keep(reading.text)
    if reading.keeps_words and is_to_keep and holds_only_pasted(reading.text):
        # There is nothing to read out of it, and it was given to be kept.
        distilled.undecided.update(reading.sources)
        return
    prompt = load_prompt(reading.task)
    text = _worth_reading(disclosed(reading.text, episode.observed_at), reading)
    language = detect_language(text)
    above = known_blocks(around)
    turns = [turn_line(message) for message in reading.earlier if message.content.strip()]
    days = days_line(episode, around)
    parts = budget.split_text(text, MESSAGE_TOKENS)
    # Pieces to read, each with what was said in the same message before it.
    pieces = [(part, parts[place - 1] if place else "") for place, part in enumerate(parts)]
    while pieces:
        piece, before = pieces.pop(0)
        said = [f"User: … {budget.split_text(before, _TAIL_TOKENS)[-1].strip()}"] if before else []
        context = "\n".join((*above, *earlier_blocks([*turns, *said])))
        around_it = "\n".join(filter(None, (context, days)))
        request = prompt.messages(language, f"{around_it}\n<message>\n{piece}\n</message>\n{_order(language)}")
        answer, extraction = _asked(request, _schema(reading, piece), ask)
        # Of one piece a model is asked twice at most.
        may_insist = extraction is not None and extraction.is_whole
        if extraction is None or not extraction.is_whole:
            halves = _halves(piece, before)
            if halves:
                # Small models lose themselves in texts of many topics, not in short ones.
                pieces = halves + pieces
                continue
            extraction = _asked_again(request, answer, extraction, _schema(reading, piece), ask)
        if not extraction.is_whole and reading.keeps_words:
            distilled.undecided.update(reading.sources)
        # Without the days: a statement that was not dated must not take the day on which it was said.
        source = Source(piece, context, language, prompt.marks)
        read = list(_checked(extraction, source, reading, prompt, distilled))
        if extraction.gate == "other" and not read and _is_telling(piece, reading, language):
            read = _insisted(request, source, reading, prompt, ask) if may_insist else []
            distilled.undecided.update(() if read else reading.sources)
        elif not read and reading.keeps_words and _is_beside_the_point(extraction, source):
            distilled.undecided.update(reading.sources)
        yield from (replace(item, text=_dated(item.text, source, episode)) for item in read)
        if extraction.gate == "other" and reading.keeps_words:
            covered = {own_words(item.text, source) for item in read}
            pieces = [item for item in _own_sentences(piece, before) if item[0] not in covered] + pieces


def _is_telling(piece: str, reading: _Reading, language: str) -> bool:
    """Whether a piece is one sentence in which somebody tells of themselves, with a name or of a change.

    Of such a sentence a model's "nothing" is not believed: small ones pass over "I moved to Turin.".
    """
    return (
        reading.task == "extract"
        and len(sentences(piece)) == 1
        and is_own_statement(piece)
        and CODE not in piece
        and QUOTE not in piece
        and not is_riddle(piece)
        and not has_word(piece, language_of(language).wants)
        and (speaks_of_change(piece, language) or any(names_in(piece.replace(PLACEHOLDER, ""), language)))
    )


def _is_beside_the_point(extraction: Extraction, source: Source) -> bool:
    """Whether a model read something that its text does not say, out of one in which somebody tells of themselves."""
    flaws = {find_flaw(statement, source) for statement in extraction.statements}
    is_own = any(is_own_statement(sentence) for sentence in sentences(source.message))
    return extraction.gate != "other" and is_own and not flaws.isdisjoint({"leak", "support"})


def _insisted(
    request: Sequence[Mapping[str, str]],
    source: Source,
    reading: _Reading,
    prompt: Prompt,
    ask: Ask,
) -> list[Statement]:
    """What holds of what a model says of a piece when it cannot say that there is nothing."""
    _, extraction = _asked(request, KEEPING_SCHEMA, ask)
    return list(_checked(extraction, source, reading, prompt, Distilled())) if extraction else []


def _dated(statement: str, source: Source, episode: Episode) -> str:
    """The statement with the date that its words or their clause in the message have: models leave dates out."""
    dated = annotate(statement, episode.observed_at)
    if dates_in(dated) - dates_in(statement) - dates_in(source.message):
        dated = statement
    dates = frozenset() if dates_in(dated) else dates_beside(statement, source)
    if len(dates) != 1:
        return dated
    end = len(dated.rstrip(".!。…"))
    return f"{dated[:end]} ({min(dates)}){dated[end:]}"


def _worth_reading(text: str, reading: _Reading) -> str:
    """What of a message the model is shown, '' for nothing; as it was said where nothing is left out."""
    kept = readable(text)
    if reading.about == "agent":
        kept = [sentence for sentence in kept if is_own_statement(sentence)]
    return text if kept == sentences(text) else "\n".join(kept)


def _halves(piece: str, before: str) -> list[tuple[str, str]]:
    """A text of several sentences as two, each with what stands before it."""
    said = sentences(piece)
    middle = len(said) // 2
    if not middle:
        return []
    first, second = "\n".join(said[:middle]), "\n".join(said[middle:])
    return [(first, before), (second, first)]


def _own_sentences(piece: str, before: str) -> list[tuple[str, str]]:
    """The sentences in which somebody speaks of themselves, each with what stands before it, of a text of several.

    A task or a greeting beside them makes a small model pass the whole text over; alone they are read.
    """
    said = sentences(piece)
    if len(said) == 1 or is_riddle(piece):
        return []
    return [
        (sentence, "\n".join(said[:place]) or before)
        for place, sentence in enumerate(said)
        if is_own_statement(sentence)
    ]


def _checked(
    extraction: Extraction, source: Source, reading: _Reading, prompt: Prompt, distilled: Distilled
) -> Iterator[Statement]:
    for text in without_repetition(extraction.statements):
        if _is_idle(text, source, reading, extraction.gate):
            continue
        checked = check(text, source)
        if extraction.gate == "other" and (checked.flaw or not _is_certain(text, source, reading)):
            continue
        if checked.text:
            yield Statement(
                sources=reading.sources,
                text=checked.text,
                about=reading.about,
                gate=extraction.gate if extraction.gate != "other" else "about_user",
                language=source.language,
                prompt=prompt.fingerprint,
                is_verbatim=bool(checked.flaw),
            )
        elif reading.keeps_words and checked.flaw not in ("secret", "meta", "leak", "support", "asked"):
            # Something was said, and neither the model's words nor a sentence of the person's own will do.
            distilled.undecided.update(reading.sources)


def _is_certain(statement: str, source: Source, reading: _Reading) -> bool:
    """Whether a statement holds although the model calls its message one without any: said of oneself, by oneself."""
    is_about = reading.about == "agent" or names_the_user(statement, source.language)
    return is_about and is_own_statement(own_words(statement, source))


def _is_idle(statement: str, source: Source, reading: _Reading, gate: Gate) -> bool:
    """Whether a statement, true or not, only gives back what was asked for or just told."""
    if reading.about == "agent":
        return only_confirms(statement, source.message, _said_by_user(reading), source.language)
    return gate != "wish" and only_repeats_a_request(statement, source)


def _said_by_user(reading: _Reading) -> str:
    return "\n".join(message.content for message in reading.earlier if message.role == "user")


def _order(language: str) -> str:
    # Said last, where small models heed it most.
    name = language_name(language, "the message's language")
    return f"Facts in {name}:"


def _schema(reading: _Reading, text: str) -> Mapping[str, Any]:
    if reading.about == "agent":
        return AGENT_SCHEMA
    return KEEPING_SCHEMA if asks_to_remember(text) else EXTRACTION_SCHEMA


def _asked(
    request: Sequence[Mapping[str, str]], schema: Mapping[str, Any], ask: Ask
) -> tuple[Answer, Extraction | None]:
    """The answer and what it says, None where it is no answer in the form asked for."""
    answer = ask(request, schema, MAX_OUTPUT_TOKENS)
    try:
        return answer, read_extraction(answer.text, is_complete=answer.is_complete)
    except ModelOutputError:
        return answer, None


def _asked_again(
    request: Sequence[Mapping[str, str]],
    answer: Answer,
    first: Extraction | None,
    schema: Mapping[str, Any],
    ask: Ask,
) -> Extraction:
    """What a second answer says, or where both were cut what both say."""
    answer, second = _asked(repaired(request, answer, _REPAIR), schema, ask)
    if second is None:
        # Reading it again tells what is wrong with it.
        return first or read_extraction(answer.text, is_complete=answer.is_complete)
    if second.is_whole or first is None:
        return second
    return replace(first, statements=tuple(dict.fromkeys(first.statements + second.statements)))
