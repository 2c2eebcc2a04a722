"""Secrets that the words beside them name: a password, key or code after its noun or before it, a seed phrase."""

from collections.abc import Iterator

import regex

from .records import Secret
from .secret_words import (
    ADJECTIVE,
    GRAMMAR,
    INSTRUCTIONS,
    LOGIN,
    NAMING,
    NOUNS,
    NOW,
    PREPOSITIONS,
    SEED,
    STOP,
    STOP_CJK,
    USERNAME,
    VERBS,
    any_of,
)

_KIND = {"key": "key", "pin": "pin", "word": "password", "pass": "password"}
_GAP_WORD = r"\s+[\p{L}\p{N}'’.@&/\x5f-]{1,30}"
# One by one they are found by their first letters, many times faster than as one alternation.
_NOUN = [(name, regex.compile(any_of(noun), regex.I)) for name, table in NOUNS.items() for noun in table.split()]
# From a noun to its value; `firm` where nothing but a value is to be expected.
_LINK = regex.compile(
    rf"(?:\s?\([^()\n]{{1,40}}\))?(?:\s+wi-?fi|\s+wlan)?(?:\s+(?:{any_of(PREPOSITIONS)})(?:{_GAP_WORD}){{0,6}}?"
    r"|(?:\s+[\p{Arabic}]{1,20}){1,5}?)??"
    r"""(?:(?P<firm>\\?["'\]]{0,2}\s{0,3}(?:=>|:=|={1,2}|[:：]|→|->|[—–](?=\s))|>(?=[^\s<])|["']\s+value="""
    rf"|\s+(?:{any_of(NAMING)}):?(?=\s))|(?:\s+(?:{any_of(VERBS)})|['’]s)(?P<firm>\s?[:：])?(?=\s)"
    r"|(?:设置为|設定為|改成|[是为為はがを])(?P<firm>\s?[:：])?)"
    rf"(?:\s+(?:{any_of(NOW)})(?=\s))?(?:[ \t]*\n)?[ \t\u3000]*",
    regex.IGNORECASE,
)
_NEXT = regex.compile(
    r"(?:\s+(?:to|auf|zu|in|a|à|en|para|на|إلى))?(?:\s*\|)?[ \t\u3000]+|(?<=[\p{Han}\p{Katakana}])(?=[!-~])",
    regex.IGNORECASE,
)
_OR = regex.compile(r"\s+(?:or|oder|o|ou|или|أو)\s+|或者?|または", regex.IGNORECASE)
_LIST = regex.compile(
    r"[ \t]*(?:[,;/|]|\s(?:and|or|und|oder|y|et|e|и)\s|\n)[ \t*•-]*|[ \t]+(?=[\w-]{8})", regex.IGNORECASE
)
# Straight after a password's noun where a user's name stands before it: "username ana password tulip".
_GIVEN = regex.compile(r"(?P<firm>[ \t\u3000]+)")
_USERNAME_BEFORE = regex.compile(
    rf"(?:{any_of(USERNAME)})(?:\s+(?:{any_of(VERBS)}))?\s*[:=：]?\s*(?P<name>[^\s:,;/]{{1,60}})"
    r"(?:\s*[,;/]\s*|\s+)(?:(?:and|und|y|et|e|и)\s+)?",
    regex.IGNORECASE | regex.REVERSE,
)
_LOGIN = regex.compile(
    rf"(?:(?:{any_of(LOGIN)})(?:\s+(?:{any_of(VERBS)}))?\s{{0,3}}[:：]?\s{{1,3}}[^\s:/|]{{1,60}}"
    r"|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4})\s[/|]\s(?P<s>[^\s@\"',;]{6,120})(?![\w@.])",
    regex.IGNORECASE,
)
_ADDRESS = regex.compile(r"(?:https?:|www\.).*|[^\s/]+\.\p{L}{2,6}(?:/.*)?|.*\.\p{L}{2,4}|/.*", regex.IGNORECASE)
_PLAIN_WORD = regex.compile(r" ?(?:\p{L}{2,24}|\d{1,4})(?![\p{L}\p{M}\p{N}'’@/\x5f-])")
_PREPOSITION = regex.compile(rf"\s+(?:{any_of(PREPOSITIONS)})(?!\p{{L}})", regex.IGNORECASE)
_PHRASE_NOUN = regex.compile(r"pass[ \x5f-]?phrase|кодовое|parola d|パスフレーズ", regex.IGNORECASE)
_MAX_WORDS = 12
_YEAR = regex.compile(r"(?:19|20)\d\d")
_PLURAL = ("s", "i", "码", "ド")
_DIGITS_ONLY = ("pin", "puk", "пин")

_CJK_LETTER = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_CJK = rf"{_CJK_LETTER}。，、；！？（）」』"
_UNSPACED = regex.compile(rf"[{_CJK_LETTER}]")
_VALUE = regex.compile(
    r"""(?|\\"([^"\\\n]{1,80})\\"|"((?:[^"\\\n]|\\.){1,80})"|'((?:[^'\\\n]|\\.){1,80})'|`([^`\n]{1,80})`"""
    r"""|[“„]([^”“\n]{1,80})[”“]|«\s?([^»\n]{1,80}?)\s?»|「([^」\n]{1,80})」|『([^』\n]{1,80})』)"""
    rf"|[(\[]?(?P<bare>(?:[^\s{_CJK}<;&,]{{1,128}}+|<(?!/)|[;&,](?![\w ]{{1,30}}[=:])(?!\s|$)){{1,4}}"
    rf"|[{_CJK_LETTER}]{{2,20}})"
)
_TRAILING = ".,;:?)]}'\"”»،؛؟…*"
_CLAUSE_END = regex.compile(
    rf"""\s*(?:$|[\n.,;:!?)\]}}"'”»…،/|<{_CJK}]|[-—–]\s|(?:and|but|or|for|und|aber|oder|für|y|pero|o|para"""
    r"|et|mais|ou|pour|e|ma|mas|per|и|а|но|для|و|until|since|because|which|bis|seit|weil|hasta|porque|user\p{L}*|login|[\p{L}\x5f]+\s?[:=])(?!\p{L}))",
    regex.IGNORECASE,
)
_UNIT = regex.compile(
    r"[\s-]*(?:char|digit|letter|symbol|word|line|bit|byte|time|day|week|month|year|minute|second|hour|attempt|zeichen|stell"
    r"|ziffer|tag|jahr|monat|caract|dígit|cifr|carat|lettr|chiffre|día|anni|años|anos|символ|знак|цифр|лет|дн|位|个|個|字|文字"
    r"|桁|أحرف|حرف|%)",
    regex.IGNORECASE,
)
# Ordinals, measures, ranges; masks; addresses; labels; references to a variable, calls.
_NO_VALUE = regex.compile(
    r"\d{1,3}(?:%|\+|º|ª|-?\p{L}{1,2})?|\d{1,3}[-–](?:\p{L}+|\d{1,3})|[*•·.xX\x5f#?-]+|https?:.*|[\p{L}\x5f-]+[:=]"
    r"|(?:\$|<|\{|%[({]|\\).*|[A-Za-z_][\w.]*\(.*"
    r"|(?:self|args|config|cfg|settings|os|process|env|user|request|req|props|this|params|options|data|ctx|sys)[.\[].*",
)
_SYMBOL = regex.compile(r"(?V1)[!@#$%^&*+=_~|\\?§€]|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}")
_HUMP, _LETTER, _DIGIT = regex.compile(r"\p{Ll}\p{Lu}"), regex.compile(r"\p{L}"), regex.compile(r"\d")
_SPOKEN = regex.compile(r"['’]|^\d{1,3}-\p{L}+$")
_CODE = regex.compile(
    r"(?:\d{3,4}[ -]\d{3,4}|\d(?:[ -]\d){3,7}|\d{6}(?:-\d{6}){1,7}|(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{4,48}"
    r"|[A-Z]{4,8}(?:-[A-Z]{4,8})+)(?![A-Za-z0-9])#?"
)
_MIN_KEY, _LONG_KEY, _MIN_ALONE, _MIN_VALUE = 7, 24, 6, 4
# What stands before a noun that comes last: "I use hunter2 as my wifi password".
_VALUE_FIRST = regex.compile(
    r"""(?:["'`](?P<quoted>[^"'`\n]{3,64})["'`]|(?P<bare>[^\s"'`]{4,64}))\s+"""
    r"(?:is|as|was|ist|als|es|como|est|comme|è|come|é|это|как|[—–-])\s+(?:the|my|our|your|an?|das|die|mein|meine|unser|dein|ihr"
    r"|la|mi|su|tu|el|mon|le|ma|notre|votre|mia|minha|sua|nossa|мой|наш|ваш)\s+(?:[\p{L}-]{1,20}\s+|[\p{L}-]{1,20}-){0,2}",
    regex.IGNORECASE | regex.REVERSE,
)
_NOUN_ENDS = regex.compile(r"\s*(?:$|[.,;!?)\n\"])|\s+(?:for|on|at|to|of|and|für|und|para|pour|per|del?|du|для|от)\b")
_LOOK_BACK = 140
_SEED_NOUN = regex.compile(any_of(SEED), regex.IGNORECASE)
# No seed phrase holds the words that hold a sentence together.
_SEED_WORDS = regex.compile(
    r"""[\s"'“„(]*+(?P<s>(?:(?:\d{1,2}[.):]?\s{0,3})?"""
    r"(?!(?:the|and|for|are|was|not|but|has|had|his|her|our|its|did|who|from|were|would|have)\b)"
    r"[a-z]{3,8}(?![\p{L}\p{N}'’-])[\s,;]{0,4}){12,24})"
)


def find_named(text: str) -> Iterator[Secret]:
    """What the words beside it call a password, a key, a code or a seed phrase, in no order; spans may overlap.

    >>> [(secret.start, secret.end) for secret in find_named("PIN is 4821")]
    [(7, 11)]
    """
    yield from _seed_phrases(text)
    yield from _beside_names(text)
    for name, nouns in _NOUN:
        for noun in nouns.finditer(text):
            for start, end in _beside(text, noun, name):
                yield Secret(start, end, _KIND[name])


def _seed_phrases(text: str) -> Iterator[Secret]:
    for noun in _SEED_NOUN.finditer(text):
        for link in (_LINK.match(text, noun.end()), noun):
            if words := link and _SEED_WORDS.match(text, link.end()):
                yield Secret(words.start("s"), words.start("s") + len(words["s"].rstrip(" ,;\n\t")), "private key")
                break


def _beside_names(text: str) -> Iterator[Secret]:
    """What stands behind a user's name and a stroke: "login ana / hunter2", "ana@x.org / hunter2"."""
    for match in _LOGIN.finditer(text):
        value = match["s"].rstrip(_TRAILING)
        if _is_alone(value, "word") and not _NO_VALUE.fullmatch(value) and not _ADDRESS.fullmatch(value):
            yield Secret(match.start("s"), match.start("s") + len(value), "password")


def _beside(text: str, noun: regex.Match[str], name: str) -> Iterator[tuple[int, int]]:
    """The spans of the values that belong to one noun."""
    word = noun.group().lower()
    for link in _links(text, noun, name):
        value = link and _value(text, link, name, word)
        if value:
            break
    more = _LIST if word.endswith(_PLURAL) else _OR
    while value:
        yield value
        link = more.match(text, value[1])
        value = link and _value(text, link, name, word)
    if _NOUN_ENDS.match(text, noun.end()):
        first = _VALUE_FIRST.match(text, max(0, noun.start() - _LOOK_BACK), noun.start())
        if first and first["quoted"]:
            yield first.span("quoted")
        elif first and _is_alone(first["bare"], name):
            yield first.span("bare")


def _links(text: str, noun: regex.Match[str], name: str) -> Iterator[regex.Match[str] | None]:
    yield _NEXT.match(text, noun.end())
    yield _LINK.match(text, noun.end())
    if name == "word":
        before = _USERNAME_BEFORE.match(text, max(0, noun.start() - _LOOK_BACK), noun.start())
        if before and before["name"].casefold() not in STOP:
            yield _GIVEN.match(text, noun.end())


def _value(text: str, link: regex.Match[str], name: str, word: str) -> tuple[int, int] | None:
    """The span of the value that stands after a link, if what stands there looks like one."""
    at = link.end()
    if name == "pin":
        return _code(text, at, word)
    match = _VALUE.match(text, at)
    if not match:
        return None
    if match["bare"] is None:
        return match.span(1) if _is_quoted_value(match[1], name) else None
    value = match["bare"].rstrip(_TRAILING)
    start = match.start("bare")
    end = start + len(value)
    if name == "word" and link.re in (_LINK, _GIVEN) and (phrase_end := _passphrase_end(text, start, link, word)):
        return start, phrase_end
    if not value or value.casefold() in STOP or _NO_VALUE.fullmatch(value):
        return None
    return (start, end) if _is_value(text, start, end, link, name, word) else None


def _code(text: str, at: int, word: str) -> tuple[int, int] | None:
    code = _CODE.match(text, at + (text[at : at + 1] in tuple("\"'`“„(«")))
    digits_only = word.startswith(_DIGITS_ONLY)
    if not code or (digits_only and _LETTER.search(code.group())) or _UNIT.match(text, code.end()):
        return None
    return code.span()


def _is_value(text: str, start: int, end: int, link: regex.Match[str], name: str, word: str) -> bool:
    value = text[start:end]
    assigned = text[link.end() - 1] == "="
    if name == "key":
        return _is_key(value, assigned)
    if link.re not in (_LINK, _GIVEN):
        return _is_alone(value, name) or (name == "word" and _is_number_beside(text, start, end, link, word))
    if value.isdecimal():
        return len(value) >= _MIN_VALUE and not _UNIT.match(text, end)
    if _is_mixed(value) or _SYMBOL.search(value):
        return len(value) >= _MIN_VALUE
    ends = assigned or _CLAUSE_END.match(text, end) is not None
    return name == "word" and _is_word(value, link["firm"] is not None) and ends


def _is_number_beside(text: str, start: int, end: int, link: regex.Match[str], word: str) -> bool:
    """Whether a number straight after a noun is its value: "password 4821", but neither a year nor a count."""
    value = text[start:end]
    if link.re is not _NEXT or word.endswith(_PLURAL) or not value.isdecimal() or len(value) < _MIN_VALUE:
        return False
    if _YEAR.fullmatch(value) or _UNIT.match(text, end):
        return False
    return not link.group().strip() or _CLAUSE_END.match(text, end) is not None


def _passphrase_end(text: str, start: int, link: regex.Match[str], word: str) -> int | None:
    """Where several words end that are no sentence: all but one, or all of few, are neither grammar nor a judgement."""
    if word.endswith(_PLURAL):
        return None
    words: list[str] = []
    end, is_cut = start, False
    while not words or not (_CLAUSE_END.match(text, end) or (is_cut := bool(_PREPOSITION.match(text, end)))):
        match = _PLAIN_WORD.match(text, end)
        if not match or len(words) == _MAX_WORDS or (not words and match.group()[0] == " "):
            return None
        words.append(match.group().strip().casefold())
        end = match.end()
        if words[-1] in GRAMMAR:
            return None
    spoken = [item for item in words if not item.isdecimal()]
    weak = sum(_is_weak(item) for item in spoken)
    # A dash may open a definition, and a line of its own another sentence.
    is_told = link.re is _GIVEN or ((link["firm"] or "").strip(" —–") != "" and "\n" not in link.group())
    is_told = is_told or _PHRASE_NOUN.match(word) is not None
    if not is_told and ADJECTIVE.fullmatch(words[0]):
        return None
    least = 4 if is_cut else 2 if is_told else 3
    return end if len(spoken) >= least and weak <= (len(spoken) >= 4) else None


def _is_weak(word: str) -> bool:
    """Whether a word is more likely said about a password than part of one."""
    return word in STOP or word in INSTRUCTIONS or bool(ADJECTIVE.fullmatch(word) or _UNIT.match(word))


def _is_alone(value: str, name: str) -> bool:
    """Whether a value is plain without a word that leads to it."""
    if name == "pin" and _CODE.fullmatch(value):
        return True
    return len(value) >= _MIN_ALONE and _is_mixed(value) and value.casefold() not in STOP


def _is_mixed(value: str) -> bool:
    return _LETTER.search(value) is not None and _DIGIT.search(value) is not None


def _is_quoted_value(value: str, name: str) -> bool:
    words = value.casefold().split() or [""]
    if name == "key":
        return len(words) == 1 and len(value) >= 6 and words[0] not in STOP and not _NO_VALUE.fullmatch(value)
    return words[0] not in STOP or (len(words) > 1 and _DIGIT.search(value) is not None)


def _is_key(value: str, assigned: bool) -> bool:
    if len(value) < _MIN_KEY or _SPOKEN.search(value):
        return False
    return _is_mixed(value) or len(value) >= _LONG_KEY or (assigned and not _HUMP.search(value))


def _is_word(value: str, firm: bool) -> bool:
    """Whether a value without digits and symbols is odd enough: no word that goes on with the sentence."""
    if _UNSPACED.match(value):
        return firm and not STOP_CJK.search(value)
    parts = value.casefold().split("-")
    if len(value) < 3 or not all(part.isalpha() for part in parts):
        return False
    if len(parts) >= 4 and min(map(len, parts)) >= 4:
        return True
    return not any(part in STOP for part in parts) and (firm or (len(parts) == 1 and not ADJECTIVE.fullmatch(value)))
