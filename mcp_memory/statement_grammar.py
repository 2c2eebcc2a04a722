"""The patterns of `statements` for one language, compiled from the words of its data when they are first needed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import regex

from .date_words import LANGUAGES as LANGUAGE_DATES
from .name_words import (
    GERMAN_NOUN,
    NO_TRADES,
    NO_VALUES,
    NOT_NAMES,
    NOT_PLACES,
    NOT_THINGS,
    OF_A_PEOPLE,
    PARTS,
    RANKS,
    TITLES,
    TRADE_ENDINGS,
)
from .patterns import compiled
from .phrase_grammar import NAME
from .relation_words import POSSESSIVES
from .rest_words import LIST_AND
from .statement_words import (
    ALTERNATIVES,
    BEFORE_TIMES,
    FAVOURITES,
    FROM,
    LEADS_ON,
    NOT_MEANT,
    OVER,
    PASSING,
    PRONOUNS,
    SIGNS,
    SPEAKER_WORDS,
    STATEMENT_WORDS,
)
from .text import fold
from .vocabulary import RELATIONS, noun_pattern

How = Literal["is", "begins", "ends"]
_HOWS: tuple[How, ...] = get_args(How)
_PHONE = r"\+?\(?\d[\d\s()/.-]{4,}\d"
_EMAIL = r"[\p{L}\p{N}_.+-]++@[\p{L}\p{N}-]++(?:\.[\p{L}\p{N}-]++)+"
_CODE = r"(?=[\p{L}\p{N}._/-]*\p{N})[\p{L}\p{N}][\p{L}\p{N}._/-]*"
_AMOUNT = (
    r"[€$£]?\d[\d.,]*(?: ?(?:%|€|\$|£|euros?|dollars?|pounds?|cm|kg|km|m|years?))?"
    r"(?: (?:a|an|per|each|im|pro|jede[ns]?|al|por|par|all?a) (?:month|year|week|day|monat|jahr|woche|tag|mes|año"
    r"|semana|día|mois|an|semaine|jour|mese|anno|settimana|giorno)(?!\p{L}))?"
)
_DATE = (
    r"(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?"
    r"|(?:the )?\d{1,2}(?:st|nd|rd|th|\.|º|er)? (?:of |de |di )?\p{L}{3,}(?: (?:de |del )?\d{4})?"
    r"|\p{L}{3,} \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?)"
)
_QUOTED = r"[\"“„«][^\"”“»\n]{2,60}[\"”“»]"
_TITLE = (
    r"(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|Sra?|Dott(?:\.ssa)?|Mme|M|dottor(?:essa)?|doctora?|docteure?|señora?|madame|monsieur"
    r"|signora?)\.?"
)
_OBJECT_END = r"(?=\s*(?:$|[.,;:!?()–—]|\s(?:-|\p{Ll})))"


@dataclass(frozen=True, slots=True)
class Row:
    """One way to say a relation: after the speaker, and after somebody else."""

    relations: tuple[str, ...]
    how: How
    first: regex.Pattern[str]
    third: regex.Pattern[str]

    @property
    def is_single(self) -> bool:
        """Whether there is one at a time, whichever of the relations is meant."""
        return all(RELATIONS[relation].is_single for relation in self.relations)


@dataclass(frozen=True, slots=True)
class StatementGrammar:
    """What clauses of one language are matched with."""

    language: str
    rows: tuple[Row, ...]
    lead_in: regex.Pattern[str]
    clause_start: regex.Pattern[str]
    clause_end: regex.Pattern[str]
    own_role: regex.Pattern[str]
    verb_first: regex.Pattern[str]
    comma: regex.Pattern[str]
    pronoun: regex.Pattern[str]
    copula: regex.Pattern[str]
    called: regex.Pattern[str]
    has_new: regex.Pattern[str]
    other_has_new: regex.Pattern[str]
    favourite: regex.Pattern[str]
    article: regex.Pattern[str]
    indefinite: regex.Pattern[str]
    manner: regex.Pattern[str]
    adverb: regex.Pattern[str]
    beside: regex.Pattern[str]
    unsure: regex.Pattern[str]
    passing: regex.Pattern[str]
    alternative: regex.Pattern[str]
    ended: regex.Pattern[str]
    over: regex.Pattern[str]
    name: regex.Pattern[str]
    plain: regex.Pattern[str]
    phone: regex.Pattern[str]
    email: regex.Pattern[str]
    number: regex.Pattern[str]
    years: regex.Pattern[str]
    joint: regex.Pattern[str]
    date: regex.Pattern[str]
    any_value: regex.Pattern[str]
    address: regex.Pattern[str]
    list_end: regex.Pattern[str]
    list_joint: regex.Pattern[str]
    stops: frozenset[str]
    no_objects: frozenset[str]
    no_values: frozenset[str]
    not_names: frozenset[str]
    not_places: frozenset[str]

    def starts(self, sentence: str) -> dict[int, str]:
        """Where clauses with a subject of their own begin, after what leads in, which is given by place."""
        places = [0, *(match.end() for match in self.clause_start.finditer(sentence))]
        begun = {self._after_lead_in(sentence, place): place for place in reversed(places)}
        return {start: sentence[place:start] for start, place in sorted(begun.items())}

    def next_clause(self, sentence: str, start: int) -> int:
        """Where the next clause begins, or the end."""
        match = self.clause_start.search(sentence, start + 1)
        return match.start() if match else len(sentence)

    def _after_lead_in(self, sentence: str, place: int) -> int:
        while (match := self.lead_in.match(sentence, place)) and match.end() > place:
            place = match.end()
        return place


@cache
def grammar_of(language: str) -> StatementGrammar:
    """The patterns of a language of `STATEMENT_WORDS`; half a second the first time."""
    words = STATEMENT_WORDS[language]
    stops = frozenset(map(fold, words.stops.split()))
    mine = "|".join(POSSESSIVES[language].split())
    articles = rf"(?:(?:{words.articles})(?:\s|(?<=')))"
    stop = "|".join(map(regex.escape, sorted(words.stops.split(), key=len, reverse=True)))
    # In a text without capitals a word that is no word of grammar may be a name.
    lower = rf"(?<=^[^\p{{Lu}}]*)(?!(?:{stop})\b)(?=[^\p{{Lu}}]*$)\p{{Ll}}[\p{{L}}\p{{N}}'-]+"
    titled = rf"(?-i:(?:{_TITLE} )?{NAME})"
    name = rf"(?:{titled}(?:, (?-i:{NAME}))?)"
    months = LANGUAGE_DATES[language].months.replace(" ", "|")
    plain = r"\p{L}[\p{L}\p{N}'/-]*(?: [\p{L}\p{N}&'/-]+){0,5}?"
    plain_end = rf"(?=\s*(?:$|[.,;:!?()])|\s(?:{stop})\b)"
    over = rf"(?=\s*(?:$|[.,;!?()])|\s(?:{words.adverbs}|{BEFORE_TIMES})\b[^.,;!?]{{0,20}}(?:$|[.,;!?]))"
    macros = {
        "a": rf"(?:(?:{words.adverbs}) )*",
        "from": rf"(?:{words.origin.replace('{x}', '[^,.;:]{2,30}?')})?",
        "o": rf"(?:{articles}?(?P<o>{name})|(?P<o>(?-i:{lower})))",
        "v": rf"(?P<v>{plain}){plain_end}",
        "list": r"(?P<list>\p{L}[^.;:!?()]{1,80})",
        "date": rf"(?P<date>{_DATE})",
        "n": rf"(?P<n>\d{{1,3}}(?!\d|[.,]\d)|(?:{LANGUAGE_DATES[language].numbers.replace(' ', '|')})\b)",
        "phone": rf"(?P<phone>{_PHONE})",
        # "I quit my job at Fenwick" ends that one.
        "any": rf"(?P<any>)(?!\s(?:at|bei|en|chez|da|presso) (?-i:\p{{Lu}})){over}",
        "end": over,
        # What the expression passes over is not read by it.
        "gap": r"(?P<gap>[^,.;]{2,40}?)",
        # A place could follow as well as a firm.
        "unsure": r"(?P<unsure>)",
        "trade": (
            rf"(?:\p{{L}}[\p{{L}}-]*\s){{0,3}}?(?!(?:{'|'.join(NO_TRADES.split())})\s)\p{{Ll}}*(?:{TRADE_ENDINGS})"
        ),
    }
    rows = tuple(_rows(words.rows, macros))
    # What has a subject of its own, or could have one.
    subject = rf"(?:{SPEAKER_WORDS}|{mine}|{articles}(?:{mine}))"
    # A subject, or the verb before one: "Seit Mai wohne ich".
    begun = rf"(?:{subject})\b|\p{{L}}+ (?:ich|wir)\b|ist (?-i:{NAME}) "
    since = rf"(?:since|as of|seit|ab|desde|a partir del?|depuis|dal?) (?:dem |el |le )?(?:{_DATE}|{months})"
    pronoun = rf"(?:{PRONOUNS[language]})(?=\s|')"
    another = rf"(?:{articles})?(?-i:\p{{Lu}}\p{{L}}+)"
    joint = rf"\s*(?:[,;–—]|\s-\s|\.\.\.|…)\s*(?:{words.joins}\s)?|\s{words.joins}\s"
    # The noun of what is new, and what leads on from it to what it is.
    new_noun = (
        rf"(?P<noun>{noun_pattern(language)})s?\b\s*(?:as well|too|now|jetzt|ahora|adesso|maintenant)?\s*[,:–—-]?\s*"
        rf"(?:(?:{LEADS_ON})\s)?"
    )
    end = (
        r"\s*(?:$|[.,;:!?()–—]|(?:now|again|ab sofort|jetzt|wieder|ahora|de nuevo|maintenant|de nouveau|ora|adesso"
        r"|di nuovo)\b)"
    )
    return StatementGrammar(
        language=language,
        rows=rows,
        lead_in=compiled(
            rf"(?:{words.lead_in})(?:[,:!.…–—]+ ?| (?={begun}))"
            rf"|(?:{BEFORE_TIMES}) [^,.;:]{{2,30}}, "
            rf"|(?:at|bei|en|chez|da|in) (?-i:{NAME}) (?=(?:{subject})\b)"
            rf"|{since} (?=(?-i:{NAME}) \p{{Ll}}|ist (?-i:{NAME}))"
            rf"|(?:since|seit|desde|depuis|dal?|letzten?|last) (?:[^\s,.;:]+ ){{1,4}}?(?={begun})"
        ),
        clause_start=compiled(
            rf"(?:{joint})(?={subject}\b)|\s{words.joins}\s(?={another} \p{{Ll}})"
            rf"|;\s(?={another})|,\s(?={another}(?:'s|\s(?:is|ist|es|est|è)) )"
            rf"|(?:[,;]\s(?:{words.joins}\s)?|\s{words.joins}\s)(?={pronoun})"
            rf"|[,;]\s(?=(?:{words.adverbs}) )"
            rf"|(?:[,;]\s(?:{words.joins}\s)?|\s{words.joins}\s)(?={since}\s)"
        ),
        clause_end=compiled(end),
        verb_first=compiled(rf"ist (?P<name>{titled}) (?:(?:{words.adverbs}) )*" if language == "de" else r"(?!)"),
        comma=compiled(r",\s"),
        own_role=compiled(rf"(?:{mine}) (?P<label>(?:\p{{Ll}}{{3,}} )?\p{{L}}{{3,}}){end}"),
        # Where languages leave the pronoun out, an adverb may open the clause.
        pronoun=compiled(rf"{pronoun}|(?:{words.adverbs})(?=\s)" if language in ("es", "it") else pronoun),
        copula=compiled(rf"(?:{words.copula})(?=\s|:)[:\s]\s*"),
        called=compiled(rf"(?:{words.called})\s"),
        has_new=compiled(rf"(?:{words.has_new}) {new_noun}"),
        other_has_new=compiled(rf"(?:{words.other_has_new}) {new_noun}"),
        favourite=compiled(FAVOURITES[language].replace("{v}", macros["v"]).replace("{art}", articles)),
        article=compiled(articles),
        indefinite=compiled(r"(?:an?|eine?[mnrs]?|un[ao']?|une)\s?"),
        manner=compiled(r"(?:\p{L}{2,}ly|\p{L}{3,}mente?|leider|too|auch|también|aussi|anche)$"),
        adverb=compiled(rf"(?:{words.adverbs})\b"),
        beside=compiled(words.beside),
        unsure=compiled(words.unsure),
        # "From today" begins what stays.
        passing=compiled(rf"(?<![\p{{L}}']|(?:{FROM}) )(?:{PASSING})(?!\p{{L}})"),
        alternative=compiled(rf"(?<![\p{{L}}'])(?:{ALTERNATIVES[language]})(?![\p{{L}}'])"),
        ended=compiled(over),
        over=compiled(OVER),
        name=compiled(rf"({name}){_OBJECT_END}"),
        plain=compiled(rf"({plain}){plain_end}"),
        phone=compiled(rf"({_PHONE})"),
        email=compiled(rf"({_EMAIL})"),
        years=compiled(r"^ (?:years old|years|jahre alt|jahre|años|ans|anni)\b"),
        # "Und ein halbes" is more of the same number.
        joint=compiled(rf"\s{words.joins}\s(?!(?:a |ein |une? |un[oa]? )?(?:half|halb\w*|demie?|medi[oa]|mezz[oa])\b)"),
        number=compiled(r"(\d{1,3})(?![\d.,]\d)"),
        date=compiled(rf"({_DATE})"),
        any_value=compiled(rf"({_QUOTED}|{_EMAIL}|{_PHONE}|{_DATE}|{_AMOUNT}|{_CODE}|(?-i:{NAME})){_OBJECT_END}"),
        address=compiled(r"([\p{L}\p{N}][^;:!?()]{3,80}?)(?=\s*(?:$|[;:!?()]|\.(?:\s|$)))"),
        list_end=compiled(
            r"\s(?:but|aber|pero|mais|ma|since|because|weil|porque|car|perché|fluently|fließend|allergisch)\b|[;:]"
        ),
        list_joint=compiled(rf"(?:\s*,\s*|\s)(?:{LIST_AND[language]})\s+|\s*,\s*"),
        stops=stops,
        no_objects=frozenset(map(fold, f"{words.no_objects} {NOT_THINGS} {_days(language)}".split())),
        not_names=stops
        | frozenset(map(fold, f"{NOT_NAMES} {NOT_THINGS} {_days(language)}".split()))
        | {"hier", "dort", "aqui", "ici", "qui"},
        no_values=frozenset(map(fold, NO_VALUES.split())),
        not_places=frozenset(NOT_PLACES.split()),
    )


def _rows(text: str, macros: dict[str, str]) -> Iterator[Row]:
    for line in text.strip().splitlines():
        head, _, both = line.strip().partition(" = ")
        relations, kind = head.split()
        first, _, third = both.partition(" ;; ")
        for name, expression in macros.items():
            first, third = (each.replace(f"{{{name}}}", expression) for each in (first, third))
        yield Row(
            tuple(relations.split("|")),
            next(how for how in _HOWS if how == kind),
            compiled(f"(?:{first})"),
            compiled(rf"\s?(?:{third})" if third else r"(?!)"),
        )


# What a person says of a whole text that is not meant.
IS_NOT_MEANT = compiled(NOT_MEANT)
IS_GERMAN_NOUN, IS_OF_A_PEOPLE, IS_TITLE = compiled(GERMAN_NOUN), compiled(OF_A_PEOPLE), compiled(TITLES)
PARTS_OF_FIRMS, RANK_WORDS = frozenset(map(fold, PARTS.split())), frozenset(RANKS.split())
SIGN_OF = {code: compiled(rf"(?<![\p{{L}}'])(?:{words})(?![\p{{L}}])") for code, words in SIGNS.items()}


def _days(language: str) -> str:
    words = LANGUAGE_DATES[language]
    return f"{words.weekdays} {words.months}".replace("|", " ")
