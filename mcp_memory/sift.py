"""What of a message is worth reading for things to remember: a person's own sentences, not what they pasted or ask.

Pasted code, logs and quotations give way to markers, so that nothing in them is taken for the person's words.
"""

from collections.abc import Sequence

import regex

from .languages import LANGUAGES, Language
from .redact import PLACEHOLDER
from .text import detect_language

CODE = "[code]"
QUOTE = "[quoted text]"
# A quotation longer than this is a text at hand, not a name, a title or a remark.
_MAX_QUOTE_WORDS = 8
_MAX_QUOTE_CHARS = 60
# A line of code holds this many signs that prose lacks, and at least this share of them.
_MIN_SIGNS = 4
_MIN_SIGN_SHARE = 0.08

# "Am 16. März" goes on after its point.
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…؟][\"'”»)]?)(?<!\b\d{1,2}\.(?=\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))\s+"
    r"|(?<=[。！？])|(?<=\p{Emoji_Presentation})\s+|\n+"
)
_FENCED = regex.compile(r"```.*?(?:```|\Z)", regex.DOTALL)
# After a number the mark stands for inches: it opens nothing.
_QUOTED = regex.compile(r"(?<!\p{N})\"[^\"]+\"|“[^“”]+”|«[^«»]+»|„[^„“”]+[“”]|「[^「」]+」|『[^『』]+』", regex.DOTALL)
_LOG_LINE = regex.compile(
    r"\s*+(?:[\[(<]?(?:\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?[T ,]+)?\d{1,2}:\d\d:\d\d"
    r"|\p{Lu}\p{Ll}{2} +\d{1,2} \d\d:\d\d:\d\d|Traceback \(|(?:Caused by|Exception in thread)\b"
    r"|(?<=\s)at [\w.$<>]+\(|(?<=\s)File \"|[\w.]*(?:Error|Exception|Warning)\b:"
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|\$ ?[a-z]|[-+]{3} |@@ "
    r"|#!|#(?:include [<\"]|define |ifn?def |endif|pragma ))"
)
# Beside code it is a comment, else a heading.
_COMMENT = regex.compile(r"\s*#+(?:\s|$)")
# As mail programs quote what somebody else wrote.
_QUOTED_LINE = regex.compile(r"\s*(?:> ?)+(?:[\p{L}\"“(]|$)")
_INDENTED = regex.compile(r"^(?: {2,}|\t)\S")
_RIDDLE = regex.compile(
    r"(?:\b(?:wh(?:at|o) am i|(?:was|wer) bin ich|(?:qué|quién) soy|qu[ei] suis-je|cosa sono|chi sono|que sou eu"
    r"|что я такое|кто я|ما أنا|من أنا)|我是(?:什么|谁)|私は(?:何|誰|だれ)(?:でしょう)?)\W*$",
    regex.IGNORECASE | regex.MULTILINE,
)
# "Remember this": not "do you remember" and not "I don't remember".
_REMEMBER = regex.compile(
    r"(?<!\b(?:i|you|we|they|to|not) )(?<!n['’]t )\bremember\b|\bnote (?:this|that|down)\b|\bin my notes\b"
    r"|\bfor next time\b|\bkeep (?:this|that)\b|\b(?:do not|don['’]?t) forget\b"
    r"|\bmerke? dir\b|\bnotiere?\b|\bvergiss nicht\b"
    r"|\b(?:recuerda|apunta|anota|no olvides) que\b|\b(?:retiens|souviens-toi|n['’]oublie pas)\b"
    r"|\b(?:ricordati|segnati|annota|non dimenticare)\b|\b(?:lembre-se|anote|não esqueça)\b"
    r"|\b(?:запомни|запиши|не забудь)\b|记住|记下|别忘|覚えておいて|メモして|تذكر أن|سجل أن",
    regex.IGNORECASE,
)
# What an assistant would do, advises or has heard, not what it did.
_OFFER = regex.compile(
    r"\bi(?:(?:['’]d| would)(?! (?:have|had|been|never))| could| suggest| recommend| hope| think)\b|\blet me\b"
    r"|\bich (?:würde|könnte|empfehle|hoffe|schlage)\b"
    r"|\b(?:recomiendo|sugiero|aconsejo|podría)\b|\bje (?:dirais|conseille|propose|recommande|pourrais|suggère)\b"
    r"|\b(?:consiglio|consiglierei|suggerisco|potrei|recomendo|sugiro|poderia)\b|\b(?:советую|рекомендую|я бы)\b"
    r"|建议|おすすめ|承知|了解|かしこまり|أنصح|أقترح",
    regex.IGNORECASE,
)
# "Remember this:" has few words, and what is to be remembered stands after it.
_MAX_POINTING_WORDS = 4
_SIGN = regex.compile(r"[(){}\[\];=<>|\\]|=>|->|==")
WORD = regex.compile(r"[\p{L}\p{M}'’]+")
# Shorter words that end like a verb form mostly are none: "lei", "café".
_MIN_INFLECTED = 5
_LETTER = regex.compile(r"\p{L}")
_DIGIT = regex.compile(r"\p{Nd}")
# Of all languages at once: short replies are too short to tell theirs, and mix them.
_COURTESIES = frozenset().union(*(language.courtesies for language in LANGUAGES.values()))


def without_pasted(text: str) -> str:
    """The text with pasted code, logs, quoted mail and long quotations replaced by markers.

    >>> without_pasted('fix this:\\nfor i in range(len(a)):\\n    a.pop(i)\\nit is for my shop')
    'fix this:\\n[code]\\nit is for my shop'
    """
    text = _QUOTED.sub(lambda match: QUOTE if _is_long(match.group()) else match.group(), _FENCED.sub(CODE, text))
    said = text.split("\n")
    lines: list[str] = []
    for line, is_code in zip(said, _are_code(said), strict=True):
        before = lines[-1] if lines else ""
        if is_code or (before == CODE and _INDENTED.match(line)):
            marker = CODE
        elif _QUOTED_LINE.match(line):
            marker = QUOTE
        else:
            lines.append(line)
            continue
        lines += [] if before == marker else [marker]
    return "\n".join(lines)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, stripped; a point inside a number, name or address ends none.

    >>> sentences("Its IP is 10.0.7.40. It hums!")
    ['Its IP is 10.0.7.40.', 'It hums!']
    """
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece and piece.strip()]


def is_only_asking(text: str) -> bool:
    """Whether every sentence is a question in which nobody speaks of themselves: nothing to remember.

    >>> is_only_asking("What's the capital of Peru?"), is_only_asking("Can I eat nuts with my allergy?")
    (True, False)
    """
    parts = sentences(text)
    return bool(parts) and all(is_mere_question(part) for part in parts)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks."""
    return sentence.rstrip("\"'”») ")[-1:] in tuple("?？؟")


def is_mere_question(sentence: str) -> bool:
    """Whether a sentence asks something in which nobody speaks of themselves; "tell me" and "for me" do not count."""
    if not is_question(sentence):
        return False
    known = language_of(detect_language(sentence))
    return not has_word(sentence, known.first_person - known.objects)


def speaks_in_first_person(text: str) -> bool:
    """Whether whoever says this speaks of themselves."""
    return has_word(text, language_of(detect_language(text)).first_person)


def readable(text: str) -> list[str]:
    """The sentences of a message that may hold something, in order."""
    return [
        sentence
        for sentence in sentences(without_pasted(text))
        if _LETTER.search(sentence.replace(CODE, "").replace(QUOTE, "").replace(PLACEHOLDER, ""))
        and not is_mere_question(sentence)
    ]


def holds_only_pasted(text: str) -> bool:
    """Whether a text is pasted as a whole, or but for the order to remember what is.

    >>> holds_only_pasted("Remember this:\\n$ ls /srv"), holds_only_pasted("Remember that I use zsh:\\n$ ls /srv")
    (True, False)
    """
    own = without_pasted(text)
    return (CODE in own or QUOTE in own) and all(_only_points(sentence) for sentence in sentences(own))


def says_to_keep(text: str) -> bool:
    """Whether a text says, outside of what is pasted in it, that it is to be kept."""
    return asks_to_remember(without_pasted(text))


def is_mere_courtesy(text: str) -> bool:
    """Whether a text holds nothing but thanks, greetings, yes and no.

    >>> is_mere_courtesy("haha ok, thanks!"), is_mere_courtesy("ok, on Sunday")
    (True, False)
    """
    return all(match.group().casefold() in _COURTESIES for match in WORD.finditer(text)) and not _DIGIT.search(text)


def is_own_statement(sentence: str) -> bool:
    """Whether somebody states something of themselves, or to be remembered: no question and no offer."""
    is_own = speaks_in_first_person(sentence) or asks_to_remember(sentence)
    return is_own and not is_question(sentence) and not _OFFER.search(sentence)


def asks_to_remember(text: str) -> bool:
    """Whether a text says that it is to be kept.

    >>> asks_to_remember("Remember that the key is under the mat"), asks_to_remember("I don't remember it")
    (True, False)
    """
    return _REMEMBER.search(text) is not None


def is_riddle(text: str) -> bool:
    """Whether whoever says "I" speaks for something that is to be guessed."""
    return _RIDDLE.search(text) is not None


def has_word(text: str, words: frozenset[str]) -> bool:
    """Whether one of a language's words stands in a text; those with `~` also inside words, with `-` at their ends."""
    spoken = {match.group().casefold() for match in WORD.finditer(text)}
    if not words.isdisjoint(spoken):
        return True
    inside = [word[1:] for word in words if word.startswith("~")]
    endings = tuple(word[1:] for word in words if word.startswith("-"))
    return any(
        any(part in word for part in inside) or (len(word) >= _MIN_INFLECTED and word.endswith(endings))
        for word in spoken
    )


def language_of(code: str) -> Language:
    """What is known of a language; where it is not one of those known, English serves."""
    return LANGUAGES.get(code, LANGUAGES["en"])


def _only_points(sentence: str) -> bool:
    own = sentence.replace(CODE, "").replace(QUOTE, "")
    return not _LETTER.search(own) or (asks_to_remember(own) and len(own.split()) <= _MAX_POINTING_WORDS)


def _is_long(quotation: str) -> bool:
    return len(quotation) > _MAX_QUOTE_CHARS or len(quotation.split()) > _MAX_QUOTE_WORDS


def _are_code(lines: Sequence[str]) -> list[bool]:
    """Which lines are code: those that look like it, and the comments above and below them."""
    found = [_is_code(line) for line in lines]
    for places in (range(len(lines)), reversed(range(len(lines)))):
        for place in places:
            found[place] |= bool(_COMMENT.match(lines[place])) and any(found[max(place - 1, 0) : place + 2])
    return found


def _is_code(line: str) -> bool:
    if _LOG_LINE.match(line):
        return True
    bare = line.replace(PLACEHOLDER, "").replace(QUOTE, "").replace(CODE, "")
    n_signs = len(_SIGN.findall(bare))
    return n_signs >= _MIN_SIGNS and n_signs >= _MIN_SIGN_SHARE * len(bare)
