"""The prompts: one Markdown file a task, read once, each with a fingerprint that memories made with it bear.

A file has the sections `# Rules`, then pairs of `# Turn` and `# Answer` (worked examples; with a language code, the
example that comes last for messages in that language), and `# Marks`: names invented for the examples, by which
code notices that an example leaked into an answer.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from .languages import LANGUAGES
from .records import Message, Role

Task = Literal["extract", "describe", "compare", "agent", "procedure", "profile", "rewrite"]
Turn = tuple[str, str]

_WHO: Mapping[Role, str] = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}

# In the wheel the files lie beside the modules, in a checkout at its top.
_FOLDERS = (Path(__file__).parent / "_prompts", Path(__file__).parent.parent / "prompts")
_DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One task's rules and examples."""

    rules: str
    turns: tuple[Turn, ...]
    last_turns: Mapping[str, Turn]
    marks: tuple[str, ...]
    fingerprint: str

    def messages(self, language: str, question: str) -> list[dict[str, str]]:
        """The request: rules, examples, the one in the message's language, then the question.

        All but the question is the same for every call in one language, so that the server keeps it cached.
        """
        last = self.last_turns.get(language) or self.last_turns.get(_DEFAULT_LANGUAGE)
        turns = [*self.turns, *([last] if last else [])]
        asked = [
            message
            for turn, answer in turns
            for message in ({"role": "user", "content": turn}, {"role": "assistant", "content": answer})
        ]
        return [{"role": "system", "content": self.rules}, *asked, {"role": "user", "content": question}]


def sayer(message: Message) -> str:
    """Who said a message, as requests call them: 'Tool (shell)'."""
    return _WHO[message.role] + (f" ({message.speaker})" if message.speaker else "")


def language_name(code: str, otherwise: str) -> str:
    """What a language is called in a request, or other words where it is not one of those known."""
    return LANGUAGES[code].name if code in LANGUAGES else otherwise


@cache
def load_prompt(task: Task) -> Prompt:
    """The prompt of a task; `ValueError` where the file breaks the form."""
    text = next(path for folder in _FOLDERS if (path := folder / f"{task}.md").is_file()).read_text(encoding="utf-8")
    sections = _sections(text)
    turns: list[Turn] = []
    last_turns: dict[str, Turn] = {}
    for (title, body), (next_title, answer) in pairwise(sections):
        kind, _, language = title.partition(" ")
        if kind != "Turn":
            continue
        if next_title != f"Answer {language}".strip():
            raise ValueError(f"prompt {task!r}: {title!r} is not followed by its answer")
        if language:
            last_turns[language] = (body, answer)
        else:
            turns.append((body, answer))
    named = dict(sections)
    marks = tuple(mark.strip() for mark in named.get("Marks", "").split(",") if mark.strip())
    fingerprint = f"{task}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return Prompt(named["Rules"], tuple(turns), last_turns, marks, fingerprint)


def _sections(text: str) -> Sequence[tuple[str, str]]:
    parts = text.split("\n# ") if text.startswith("# ") else []
    parts[:1] = [part.removeprefix("# ") for part in parts[:1]]
    return [(title, body.strip()) for title, _, body in (part.partition("\n") for part in parts)]
