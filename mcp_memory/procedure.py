"""A conversation to one procedure: what was to be done, the steps that were taken, what came of it.

Read in parts where it is long, each with the steps of the parts before it. Steps with a number or name that stands
neither in the part nor in those steps are dropped; where too little is left, the conversation's own words stay. However
many there are, sound steps all stay, and in full: an answer that does not come to its end is refused.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import budget
from .asking import Answer, Ask, ask_twice
from .disclose import spoken_secrets, without_spoken
from .distil import Distilled, Statement
from .errors import ModelOutputError
from .guards import Source, find_flaw
from .inputs import MAX_TEXT_CHARS
from .prompts import Prompt, language_name, load_prompt, sayer
from .records import Episode, Message
from .redact import redact
from .replies import read_object
from .text import detect_language, normalise

MAX_OUTPUT_TOKENS = 700
# Shares of one request; rules and example take at most 1,200 beside them.
TURNS_TOKENS = 1600
SO_FAR_TOKENS = 800
# Of a long turn, mostly a tool's output, the beginning and the end tell most.
_HEAD_TOKENS, _TAIL_TOKENS = 300, 200
_MAX_SENTENCE_CHARS = 400
# Fewer sound steps than this share of the model's make its whole reading doubtful.
_MIN_SOUND = 0.6

PROCEDURE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "maxLength": _MAX_SENTENCE_CHARS},
        "steps": {"type": "array", "items": {"type": "string"}},
        "result": {"type": "string", "maxLength": _MAX_SENTENCE_CHARS},
    },
    "required": ["goal", "steps", "result"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Procedure:
    """How something was done; `goal` and `result` are '' where nothing tells."""

    goal: str
    steps: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        """The procedure as it is stored and read by agents."""
        numbered = [f"{number}. {step}" for number, step in enumerate(self.steps, 1)]
        return "\n".join([*filter(None, [self.goal]), *numbered, *([f"→ {self.result}"] if self.result else [])])


def summarise(episode: Episode, left_out: Container[int], ask: Ask) -> Distilled:
    """One procedure out of all messages of an episode; those in `left_out` are not read.

    One that has no steps, or is longer than a memory may be, gives way to the conversation's own words.

    Raises:
        ModelUnavailableError: the model is not there; nothing came of the episode.
        ModelOutputError: its answers cannot be used; nothing came of the episode.
    """
    said = [
        (place, message)
        for place, message in enumerate(episode.messages)
        if message.content.strip() and place not in left_out
    ]
    if not said:
        return Distilled()
    prompt = load_prompt("procedure")
    secrets = spoken_secrets(message.content for _, message in said)
    turns = [_turn(replace(message, content=without_spoken(message.content, secrets))) for _, message in said]
    language = detect_language(" ".join(message.content for _, message in said if message.role == "user")[:2000])
    procedure = Procedure("", (), "")
    for part in _parts(turns):
        procedure = _continued(procedure, part, language, prompt, ask)
    if not procedure.steps or len(str(procedure)) > MAX_TEXT_CHARS:
        return Distilled(undecided={place for place, _ in said})
    statement = Statement(
        sources=tuple(place for place, _ in said),
        text=str(procedure),
        about=episode.about,
        gate="about_user",
        language=language,
        prompt=prompt.fingerprint,
    )
    return Distilled([statement])


def _continued(before: Procedure, part: str, language: str, prompt: Prompt, ask: Ask) -> Procedure:
    so_far = budget.newest_that_fit(before.steps, SO_FAR_TOKENS)
    known = "<so_far>\n{}\n</so_far>\n".format("\n".join(so_far)) if so_far else ""
    name = language_name(language, "the user's language")
    question = f"{known}<turns>\n{part}\n</turns>\nSteps in {name}:"
    # What the model was shown, and no more: checking a step takes as long as its source is.
    source = Source("\n".join((*so_far, part)), "", language, prompt.marks)

    def read(answer: Answer) -> Procedure:
        return _read(answer, source)

    found = ask_twice(ask, prompt.messages(language, question), PROCEDURE_SCHEMA, MAX_OUTPUT_TOKENS, read)
    steps = before.steps + _new_steps(found.steps, before.steps)
    return Procedure(before.goal or found.goal, steps, found.result or before.result)


def _new_steps(found: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    """What follows in an answer after the last steps so far, with which a model may begin it; other repeats are real.

    >>> _new_steps(("Edit.", "Restart.", "Edit.", "Restart."), ("Look.", "Edit.", "Restart."))
    ('Edit.', 'Restart.')
    """
    given, known = ([normalise(step).rstrip(".。 ") for step in steps] for steps in (found, before))
    n_shared = next((n for n in range(min(len(given), len(known)), 0, -1) if known[-n:] == given[:n]), 0)
    return found[n_shared:]


def _read(answer: Answer, source: Source) -> Procedure:
    value, was_cut = read_object(answer.text)
    steps = value.get("steps")
    if was_cut or not answer.is_complete or not isinstance(steps, list):
        raise ModelOutputError("the answer is no procedure, or was cut", hint="ask the model again")
    given = [redact(" ".join(str(step).split())) for step in steps if str(step).strip()]
    sound = [step for step in given if _is_sound(step, source)]
    if len(sound) < _MIN_SOUND * len(given):
        raise ModelOutputError("most steps of the answer stand nowhere in the turns", hint="ask the model again")
    goal, result = (redact(" ".join(str(value.get(name) or "").split())) for name in ("goal", "result"))
    return Procedure(goal if _is_sound(goal, source) else "", tuple(sound), result if _is_sound(result, source) else "")


def _is_sound(step: str, source: Source) -> bool:
    """Whether a step names and counts only what was said; how it puts it is the model's."""
    return find_flaw(step, source) in ("", "meta", "negation", "subject", "long")


def _turn(message: Message) -> str:
    text = redact(message.content).strip()
    parts = budget.split_text(text, _HEAD_TOKENS)
    if budget.count_tokens(text) > _HEAD_TOKENS + _TAIL_TOKENS:
        text = f"{parts[0]}\n…\n{budget.split_text(text, _TAIL_TOKENS)[-1]}"
    return f"{sayer(message)}: {text}"


def _parts(turns: Sequence[str]) -> list[str]:
    """The turns in parts that fit a request."""
    parts: list[list[str]] = [[]]
    n_tokens = 0
    for turn in turns:
        n_turn = budget.count_tokens(turn)
        if parts[-1] and n_tokens + n_turn > TURNS_TOKENS:
            parts.append([])
            n_tokens = 0
        parts[-1].append(turn)
        n_tokens += n_turn
    return ["\n".join(part) for part in parts]
