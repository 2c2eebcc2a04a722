"""Text to comparable forms: cleaning, hashing, language, and the terms that the keyword index holds.

A *term* is one word as a tuple of forms, any of which counts as a match: its lemma in each language that
the user writes, or for scripts without spaces a character n-gram. Documents and queries go through the same
function, so that they meet.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

import regex

from .dictionaries import COMPOUNDING, LANGUAGES, LATIN, is_known, lemma, split_compound
from .stopwords import STOPWORDS

Term = tuple[str, ...]

# English is always among the languages of a user: names, code and quotations are full of it.
BASE_LANGUAGE = "en"
MAX_LANGUAGES = 6
_BY_SCRIPT = (
    (regex.compile(r"\p{Cyrillic}"), ("ru", "uk")),
    (regex.compile(r"\p{Arabic}"), ("ar", "fa")),
    (regex.compile(r"\p{Greek}"), ("el",)),
    (regex.compile(r"\p{Hebrew}"), ("he",)),
    (regex.compile(r"\p{Armenian}"), ("hy",)),
    (regex.compile(r"\p{Georgian}"), ("ka",)),
    (regex.compile(r"\p{Devanagari}"), ("hi",)),
    (regex.compile(r"\p{Hiragana}|\p{Katakana}"), ("ja",)),
    (regex.compile(r"\p{Han}"), ("zh",)),
    (regex.compile(r"\p{Hangul}"), ("ko",)),
    (regex.compile(r"\p{Thai}"), ("th",)),
)
_LATIN_LETTER = regex.compile(r"\p{Latin}")
_LETTER_CLUES = (
    ("uk", regex.compile(r"[іїєґ]")),
    ("fa", regex.compile(r"[پچژگ‌]")),
)

# A word, or a pictograph, which is a word by itself.
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:[’'‌][\p{L}\p{M}\p{N}]++)*+|\p{Extended_Pictographic}")
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々〆\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")
_HAN = regex.compile(r"\p{Han}")
# A code, version, address or number whose parts mean something only together.
# Possessive, and only from the start of a word: a long text must not cost the square of its length.
_COMPOSITE = regex.compile(r"(?<![\p{L}\p{N}])[\p{L}\p{N}]++(?:[-_./:@#+&\\][\p{L}\p{N}]++)+")
_CAMEL = regex.compile(r"(?V1)(?<=\p{Ll})(?=\p{Lu})")
_LOCAL_PARTS = frozenset({"s", "t", "m", "d", "ll", "re", "ve"})
_ARABIC_MARKS = regex.compile(r"[ـ\p{Mn}]")
_PERSIAN_ENDINGS = ("هایمان", "هایشان", "هایتان", "هایم", "هایت", "هایش", "های", "هایی", "ها",
                    "مان", "شان", "تان", "ام", "ات", "اش", "م", "ت", "ش", "ی")  # fmt: skip
# A lemma that shares fewer first letters with its word may belong to another word.
_MIN_STEM = 4


def clean(text: str) -> str:
    """Text that every store can hold: lone surrogates and NUL become U+FFFD, all else stays as it is."""
    if "\0" in text:
        text = text.replace("\0", "�")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def normalise(text: str) -> str:
    """Case, width, compatibility forms and white space folded: what two spellings of one text share."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_hash(text: str) -> str:
    """32 hexadecimal characters that equal texts (after `normalise`) share."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:32]


def heading(observed_at: datetime, speaker: str) -> str:
    """What stands before a text when it is embedded: who said it, when.

    >>> heading(datetime(2026, 3, 9), "Ana")
    '9 March 2026, Ana: '
    """
    date = f"{observed_at.day} {_MONTHS[observed_at.month - 1]} {observed_at.year}"
    return f"{date}, {speaker}: " if speaker else f"{date}: "


_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


# Language


def detect_language(text: str) -> str:
    """The ISO code of the language a text is written in, or '' where there is too little to tell.

    Scripts decide first, then letters that only one of the script's languages has, then the count of
    function words; a tie decides nothing.
    """
    # The first thousand characters tell as much as a whole file.
    sample = text[:1000].lower()
    languages = _languages_of_script(sample)
    if len(languages) == 1:
        return languages[0]
    for code, clue in _LETTER_CLUES:
        if code in languages and clue.search(sample):
            return code
    words = set(regex.findall(r"[\p{L}\p{M}]+", sample))
    counts = Counter({code: len(words & STOPWORDS[code]) for code in languages if code in STOPWORDS})
    (best, n_best), (_, n_second) = (counts.most_common(2) + [("", 0)] * 2)[:2]
    if n_best > n_second:
        return best
    # In a script of its own a text is in the script's chief language; in Latin script it may be anything.
    return "" if languages is LATIN else languages[0]


def _languages_of_script(sample: str) -> Sequence[str]:
    """The languages of the script that most letters belong to; a foreign name among many words decides nothing."""
    counts = {codes: len(script.findall(sample)) for script, codes in _BY_SCRIPT}
    kana, han = counts[("ja",)], counts[("zh",)]
    if kana:
        # Japanese is written in both.
        counts[("ja",)], counts[("zh",)] = kana + han, 0
    n_latin = len(_LATIN_LETTER.findall(sample))
    best = max(counts, key=lambda codes: counts[codes])
    # A word takes several Latin letters and few Han characters.
    weight = 3 if best in (("ja",), ("zh",), ("ko",)) else 1
    return best if counts[best] * weight > n_latin else LATIN


def languages_for(counts: Counter[str], text: str = "") -> tuple[str, ...]:
    """The languages whose lemmas are to be used: the user's most frequent ones and that of `text`.

    At most `MAX_LANGUAGES`, English always among them: each language costs a dictionary in memory.
    """
    ranked = [code for code, n in counts.most_common() if code and n > 0]
    own = detect_language(text) if text else ""
    chosen = dict.fromkeys([BASE_LANGUAGE, *([own] if own else []), *ranked])
    return tuple(chosen)[:MAX_LANGUAGES]


# Terms


def terms(text: str, languages: Collection[str] = (BASE_LANGUAGE,)) -> list[Term]:
    """The terms of a text in order, stop words left out, repetitions kept.

    A code, and a word with inner capitals, count as a whole and by their parts.

    >>> terms("The cats of ticket AB-12")
    [('cat',), ('ticket',), ('ab-12',), ('ab',), ('12',)]
    """
    composed = unicodedata.normalize("NFKC", text)
    stop = _stopwords(tuple(sorted(languages)))
    found: list[Term] = []
    composites = _COMPOSITE.finditer(composed)
    composite = next(composites, None)
    for match in _WORD.finditer(composed):
        while composite and composite.start() <= match.start():
            found.append((fold(composite.group()),))
            composite = next(composites, None)
        parts = [match.group()] if UNSPACED.search(match.group()) else _CAMEL.split(match.group())
        if len(parts) > 1:
            found.append((fold(match.group()),))
        for part in parts:
            # Lower case, not case folding: dictionaries know "straße" and not "strasse".
            found += _word_terms(part.lower(), languages, stop)
    return found


def lemmas(text: str, languages: Collection[str] = (BASE_LANGUAGE,)) -> str:
    """All forms of all terms, separated by spaces: the form in which a memory's words are stored."""
    return " ".join(form for term in terms(text, languages) for form in term)


def _word_terms(word: str, languages: Collection[str], stop: frozenset[str]) -> Iterator[Term]:
    for part in _parts(word):
        if part in stop:
            continue
        if UNSPACED.search(part):
            yield from _unspaced_terms(part, stop)
            continue
        forms = _forms(part, tuple(languages))
        yield forms
        for code in COMPOUNDING:
            if code in languages:
                yield from ((fold(piece),) for piece in split_compound(part, code))


def _parts(word: str) -> Iterator[str]:
    """A word without elided articles and clitics: l'amie → amie, Maria's → maria, don't → don."""
    pieces = regex.split("[’']", word)
    if len(pieces) == 1:
        yield word
        return
    if pieces[-1] in _LOCAL_PARTS:
        yield from pieces[:-1]
    else:
        yield from pieces[len(pieces[0]) <= 2 :]


def _unspaced_terms(word: str, stop: frozenset[str]) -> Iterator[Term]:
    """Bigrams, and single Han characters, which are words of their own; what is spaced stays whole."""
    for run in UNSPACED.splititer(word):
        if run:
            yield (fold(run),)
    for run in UNSPACED.findall(word):
        for character in run:
            if (len(run) == 1 or _HAN.match(character)) and character not in stop:
                yield (character,)
        for start in range(len(run) - 1):
            yield (run[start : start + 2],)


@lru_cache(maxsize=65_536)
def _forms(word: str, languages: tuple[str, ...]) -> Term:
    # Codes and numbers have no lemma; "b2" must not become "b".
    if any(character.isdigit() for character in word):
        return (fold(word),)
    own = fold(word)
    forms = [fold(form) for code in _applicable(word, languages) for form in _lemmas_in(word, code) if form]
    # Dictionaries take "AI" for a form of "be" and "Maria" for several mares: an unlike lemma does not replace it.
    if not any(own.startswith(form) or form[:_MIN_STEM] == own[:_MIN_STEM] for form in forms):
        forms.append(own)
    return tuple(dict.fromkeys(forms))


def _applicable(word: str, languages: tuple[str, ...]) -> Iterable[str]:
    """The languages that could contain a word, judged by its script."""
    for script, codes in _BY_SCRIPT:
        if script.match(word):
            return [code for code in codes if code in languages] or codes[:1]
    return [code for code in languages if code in LATIN]


def _lemmas_in(word: str, language: str) -> Iterator[str]:
    if language not in LANGUAGES:
        yield word
    elif language == "ar":
        yield from _arabic_forms(_ARABIC_MARKS.sub("", word))
    elif language == "fa":
        yield _persian_lemma(_ARABIC_MARKS.sub("", word))
    else:
        yield lemma(word, language)


def _arabic_forms(word: str) -> Iterator[str]:
    """The light stem of a word, and the light stem of the stem's dictionary lemma (broken plurals)."""
    stem = _arabic_stem(word)
    if not stem:
        return
    yield stem
    yield _arabic_stem(lemma(stem, "ar"))
    yield _arabic_stem(lemma(word, "ar"))


def _arabic_stem(word: str) -> str:
    """A word without article, conjunctions and common endings, at least two letters of it left.

    Source: light10, Larkey, Ballesteros and Connell, "Light Stemming for Arabic Information Retrieval", 2007;
    added here: one-letter possessives, and the t that stands for ta marbuta before them.
    """
    stem = word.translate(_TO_ARABIC)
    for prefix in _ARABIC_PREFIXES:
        if stem.startswith(prefix) and len(stem) - len(prefix) >= 2 + (len(prefix) == 1):
            stem = stem[len(prefix) :]
            break
    for ending in _ARABIC_ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= 2 + (len(ending) == 1):
            stem = stem[: -len(ending)]
            break
    return stem.removesuffix("ت") if len(stem) > 3 else stem


def _persian_lemma(word: str) -> str:
    """The dictionary's lemma, or the stem left by the longest ending that leaves a known word."""
    plain = word.translate(_TO_PERSIAN)
    if is_known(plain, "fa"):
        return lemma(plain, "fa")
    joined = plain.replace("‌", "")
    for ending in _PERSIAN_ENDINGS:
        stem = joined.removesuffix(ending)
        if stem != joined and len(stem) >= 2 and is_known(stem, "fa"):
            return lemma(stem, "fa")
    return plain.split("‌")[0]


# Two code points each for the letters ya and kaf, one per keyboard.
_TO_PERSIAN = str.maketrans("يك", "یک")
_TO_ARABIC = str.maketrans("یکأإآى", "يكاااي")
_ARABIC_PREFIXES = ("وال", "بال", "كال", "فال", "ال", "لل", "و")
_ARABIC_ENDINGS = ("هما", "كما", "هم", "هن", "كم", "نا", "ها", "ان", "ات", "ون", "ين", "يه", "ية",
                   "ه", "ة", "ي", "ك")  # fmt: skip


def fold(word: str) -> str:
    """A form without accents where the script is Latin, Greek or Cyrillic: café → cafe, ёлка → елка."""
    decomposed = unicodedata.normalize("NFD", word.casefold())
    if decomposed.isascii():
        return decomposed
    bare = regex.sub(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+", "", decomposed)
    return unicodedata.normalize("NFC", bare.replace("ß", "ss"))


@lru_cache(maxsize=64)
def _stopwords(languages: tuple[str, ...]) -> frozenset[str]:
    chosen = frozenset().union(*(STOPWORDS.get(code, frozenset()) for code in languages))
    # Japanese is written with Han characters too, and Chinese quotes kana.
    return chosen | (STOPWORDS["zh"] | STOPWORDS["ja"])


# What must match to the letter

# After a number the mark stands for inches: it opens nothing.
_QUOTED = regex.compile(r"(?:(?<!\p{N})\"|[“«「『])([^\"”»」』]{2,80})[\"”»」』]")
# A letter or digit of a word that is set apart by spaces; in other scripts a number ends where the digits do.
SPACED = r"(?V1:[[\p{L}\p{M}\p{N}_]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]])"
_CODE = regex.compile(rf"(?V1){SPACED}++(?:[-./:@#+\\]++{SPACED}++)*+")
_SPACED_CHARACTER = regex.compile(rf"(?V1){SPACED}")
# Longer runs are no code that anybody asks for.
_MAX_PHRASE = 120
_MAX_PHRASES = 12
# What makes a run of letters a code; a hyphen or slash alone does not ("well-known", "he/she").
_CODE_MARK = regex.compile(r"[\p{N}.:@#\\_]")


def exact_phrases(query: str) -> tuple[str, ...]:
    """What a query asks for to the letter, normalised: numbers, codes, addresses, quoted phrases.

    >>> exact_phrases('who wrote "Dune" in 1965, ticket AB-12?')
    ('dune', '1965', 'ab-12')
    """
    quoted = [normalise(match) for match in _QUOTED.findall(query)]
    rest = normalise(_QUOTED.sub(" ", query))
    codes = [code for code in _CODE.findall(rest) if len(code) <= _MAX_PHRASE and _CODE_MARK.search(code)]
    return tuple(dict.fromkeys([*quoted, *codes]))[:_MAX_PHRASES]


def contains_phrase(normalised_text: str, phrase: str) -> bool:
    """Whether a normalised text holds a phrase as whole words (42 is not in 420)."""
    needs_start = _SPACED_CHARACTER.match(phrase[:1]) is not None
    needs_end = _SPACED_CHARACTER.match(phrase[-1:]) is not None
    start = normalised_text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        opens = not needs_start or start == 0 or not _SPACED_CHARACTER.match(normalised_text[start - 1])
        closes = not needs_end or not _SPACED_CHARACTER.match(normalised_text[end : end + 1])
        if opens and closes:
            return True
        start = normalised_text.find(phrase, start + 1)
    return False
