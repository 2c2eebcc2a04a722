"""What a statement says besides how it says it: its terms, without the words that only relate them.

"The dog is called Bruno" and "has a dog named Bruno" say the same; "has a red scarf" says more than "has a scarf".
"""

from collections.abc import Mapping
from functools import cache, lru_cache

import regex

from .guards import WHOLE_NUMBER, counts_in, without_user
from .sift import WORD, language_of
from .text import fold, terms
from .written_dates import without_dates

# A term is known by any of its forms.
Terms = frozenset[frozenset[str]]

# Words that say no more than that there is a relation, or that it holds at present.
_RELATING: Mapping[str, str] = {
    "en": "called named name have has own owns now currently presently still each every",
    "de": "heißt genannt namens name hat haben besitzt jetzt nun derzeit aktuell noch jede jeder jedes",
    "es": "llama llamado llamada nombre tiene posee ahora actualmente todavía cada",
    "fr": "appelle nommé nommée nom possède maintenant actuellement toujours chaque",
    "it": "chiama chiamato chiamata nome ha possiede ora adesso attualmente ancora ogni",
    "pt": "chama chamado chamada nome tem possui agora atualmente ainda cada",
    "ru": "зовут зовется называется имя имеет есть теперь сейчас каждый каждую каждое",
    "ar": "اسمه اسمها يسمى تسمى لديه لديها يملك تملك عنده عندها الآن حاليا",
}
# Words that say the same relation, in groups; the first of a group stands for it.
_ALIKE: Mapping[str, str] = {
    "en": "live lives living home resides/work works working job employed/born birth birthday date",
    "de": "wohnt lebt wohnen leben zuhause wohnort/arbeitet arbeiten arbeit job beruf/geboren geburtstag geburtsdatum",
    "es": "vive vivir reside hogar/trabaja trabajar trabajo empleo/nació nacido nacida nacimiento fecha",
    "fr": "habite habiter vit vivre réside/travaille travailler travail emploi métier/né née naissance date",
    "it": "vive vivere abita abitare risiede/lavora lavorare lavoro impiego/nato nata nascita data",
    "pt": "mora morar vive viver reside/trabalha trabalhar trabalho emprego/nasceu nascido nascida nascimento data",
    "ru": "живет живёт жить проживает/работает работать работа/родился родилась рождения дата",
    "ar": "يعيش تعيش يسكن تسكن/يعمل تعمل عمله عملها/ولد ولدت ميلاده ميلادها تاريخ",
}
_HAVING: Mapping[str, frozenset[str]] = {
    "en": frozenset({"has", "have", "owns", "own"}),
    "de": frozenset({"hat", "haben", "besitzt"}),
    "es": frozenset({"tiene", "posee"}),
    "fr": frozenset({"a", "possède"}),
    "it": frozenset({"ha", "possiede"}),
    "pt": frozenset({"tem", "possui"}),
    "ru": frozenset({"есть", "имеет"}),
    "ar": frozenset({"لديه", "لديها", "عنده", "عندها", "يملك", "تملك"}),
}
# Stop words by which two statements differ that share all else.
_CONTRASTS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "before after over under up down off against from until",
        "de": "vor nach über unter gegen bis",
        "es": "antes después sobre bajo contra desde hasta",
        "fr": "avant après sur sous contre depuis",
        "it": "prima dopo sopra sotto contro",
        "pt": "antes depois sobre sob contra desde até",
        "ru": "до после над под против от",
        "ar": "قبل بعد فوق تحت ضد منذ",
    }.items()
}
_UNSPACED = ("zh", "ja")
_UNSPACED_RELATING = frozenset("有叫名为是的了在个现今每对")
# Hiragana by itself is a word where it is neither a particle nor the end of a verb.
_JA_PIECE = regex.compile(r"\p{Han}|[\p{Katakana}ー]+|\p{Hiragana}+|\p{Latin}+")
_JA_PARTICLE = regex.compile(r"^(?:から|まで|より|[はがをにでとものへや])|(?:から|まで|より|[はがをにでとものへや])$")
# Possessive: a long row of endings must not cost more than its length.
_JA_ENDING = regex.compile(
    r"(?:ています|なかった|している|という|でした|ました|ません|している|ている|です|ます|じゃ|ある|あり|あった|いる|いた"
    r"|した|する|して|ない|なく|なった|った|いう|では|だ|[うくすつぬむるぐぶべみりちきっんしていで])*+"
)
# Words longer than this are of one stem where they share all but their last letters: "allergic" and "allergy".
_MIN_SHARED = 5


@lru_cache(maxsize=1024)
def stated_terms(text: str, language: str) -> Terms:
    """What a text says, without its dates, its "not", the words for the user, and those that only relate.

    >>> stated_terms("The user has a dog named Bruno.", "en") == stated_terms("The user's dog is called Bruno.", "en")
    True
    """
    plain = without_user(without_dates(text).casefold(), language)
    counts = frozenset(frozenset({number}) for number in counts_in(plain, language))
    said = _without_negations(WHOLE_NUMBER.sub(" ", plain), language)
    if language in _UNSPACED:
        return counts | frozenset(frozenset({piece}) for piece in _pieces(said, language))
    relating, alike, numbers = _relating(language), _alike(language), language_of(language).numbers
    found = set(counts)
    for word in WORD.findall(said):
        for forms in terms(word, [language or "en"]):
            # Dictionaries take names for other words: "Bruno" for a form of "brunire".
            known = {*forms, fold(word)}
            if relating.isdisjoint(known) and numbers.keys().isdisjoint(known):
                found.add(frozenset(known | {alike[form] for form in known if form in alike}))
    return frozenset(found)


def holds(whole: Terms, part: Terms) -> bool:
    """Whether all of one text's terms are among another's, in whatever form.

    >>> holds(stated_terms("A penicillin allergy.", "en"), stated_terms("Allergic to penicillin.", "en"))
    True
    >>> holds(stated_terms("A blue scarf.", "en"), stated_terms("A red scarf.", "en"))
    False
    """
    return all(any(_is_one_word(term, other) for other in whole) for term in part)


def without(terms_: Terms, others: Terms) -> Terms:
    """The terms that are not among the others, in whatever form."""
    return frozenset(term for term in terms_ if not any(_is_one_word(term, other) for other in others))


def contrasts_in(text: str, language: str) -> frozenset[str]:
    """The little words of a text that set it apart from another with the same terms: "before", "after".

    >>> sorted(contrasts_in("The pill is taken before breakfast.", "en"))
    ['before']
    """
    return _CONTRASTS.get(language, frozenset()) & {match.group() for match in WORD.finditer(text.casefold())}


def has_possessor(text: str, language: str) -> bool:
    """Whether a text says that somebody has something; what they have is no value of theirs."""
    if language in _UNSPACED:
        return any(word in text for word in ("有", "ある", "いる", "持っ", "飼っ"))
    return not _HAVING.get(language, frozenset()).isdisjoint(WORD.findall(text.casefold()))


def _is_one_word(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one.isdisjoint(other):
        return True
    return any(
        len(n := min(form, another, key=len)) > _MIN_SHARED
        and form[: len(n) - 1] == another[: len(n) - 1]
        and abs(len(form) - len(another)) <= 1
        for form in one
        for another in other
    )


def _without_negations(text: str, language: str) -> str:
    negations = language_of(language).negations
    for part in sorted((word[1:] for word in negations if word.startswith("~")), key=len, reverse=True):
        text = text.replace(part, " ")
    return WORD.sub(lambda match: " " if match.group() in negations else match.group(), text)


def _pieces(text: str, language: str) -> set[str]:
    """Han characters one by one, and in Japanese what else is no grammar."""
    if language == "zh":
        found = regex.findall(r"\p{Han}|\p{Latin}+", text)
        return {piece for piece in found if piece not in _UNSPACED_RELATING}
    found = [piece for match in _JA_PIECE.findall(text) if (piece := _JA_PARTICLE.sub("", _JA_PARTICLE.sub("", match)))]
    return {piece for piece in found if piece not in _UNSPACED_RELATING and not _is_grammar(piece)}


def _is_grammar(piece: str) -> bool:
    return _JA_ENDING.fullmatch(piece) is not None or (
        len(piece) == 1 and regex.match(r"\p{Hiragana}", piece) is not None
    )


@cache
def _relating(language: str) -> frozenset[str]:
    return frozenset(_forms(_RELATING.get(language, ""), language))


@cache
def _alike(language: str) -> Mapping[str, str]:
    rows = _ALIKE.get(language, "").split("/")
    return {form: fold(row.split()[0]) for row in rows if row for form in _forms(row, language)}


def _forms(words: str, language: str) -> set[str]:
    return {fold(word) for word in words.split()} | {form for term in terms(words, [language]) for form in term}
