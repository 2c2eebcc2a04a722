"""What texts, descriptions and people claim, as facts that could be: subject, relation, object, and from when on."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import regex

from .countries import area_of
from .guards import is_user
from .mentions import name_key
from .periods import period_in
from .phrases import LANGUAGES, USER_KEY, USER_NAME, Phrase, read_phrase
from .records import About, Claim, Claims, Draft, FactType, Kind, Memory, Mention, Role
from .stated import Stated
from .statements import read_statements
from .vocabulary import BY_TYPE, OTHER, RELATIONS, label_key, relation_of

# A pattern leaves little doubt, a model's reading more.
CONFIDENCE = {"hand": 1.0, "text": 0.9, "model": 0.7}
_ME = frozenset("i me myself ich mich yo je moi io".split())
_SINCE = regex.compile(r"(?i)\b(?:since|seit|desde|depuis|dal?|as of|starting)\b")


def claims_of(text: str, language: str, said_at: datetime, speaker: str = "") -> Claims:
    """What a text claims without doubt, as said at a time by the user, or by a speaker with a name."""
    reading = read_statements(text, language)
    claims = tuple(_claim(stated, said_at, speaker) for stated in reading.stated)
    kept = tuple(claim for claim in claims if not any(_is_beside(claim, other) for other in claims))
    return Claims(kept, reading.is_all and len(kept) == len(claims))


def _is_beside(claim: Claim, other: Claim) -> bool:
    """Whether a text gives two values at once of what there is one of: "I live in Lisbon. I live in Porto."."""
    if not (claim.holds and other.holds and RELATIONS[claim.relations[0]].is_single):
        return False
    key, another = ((each.subject_key, each.relations, each.label, each.begins_at) for each in (claim, other))
    words, others = set(claim.object_key.split()), set(other.object_key.split())
    # A country and a city are one home, a name and the full name are one.
    is_one = words <= others or others <= words or bool(area_of(claim.object_key)) != bool(area_of(other.object_key))
    return key == another and not is_one


def claims_of_draft(draft: Draft, said_at: datetime) -> Claims:
    """The claims of a draft: of what people say, and not of plans and procedures."""
    return _claims_of(
        draft.message.role, draft.about, draft.kind, draft.text, draft.language, said_at, draft.message.speaker
    )


def claims_of_memory(memory: Memory) -> Claims:
    """The claims of a memory, as they were read when it was added."""
    return _claims_of(
        memory.role, memory.about, memory.kind, memory.text, memory.language, memory.observed_at, memory.speaker
    )


def begun_in(text: str, language: str) -> frozenset[str]:
    """The keys of the values that a text tells of as a change: "I moved to Lisbon", and not "I live in Lisbon"."""
    return frozenset(
        object_key(stated.object) for stated in read_statements(text, language).stated if stated.how == "begins"
    )


def _claims_of(
    role: Role, about: About, kind: Kind, text: str, language: str, said_at: datetime, speaker: str
) -> Claims:
    if role != "user" or about != "user" or kind in ("procedure", "plan"):
        return Claims()
    return claims_of(text, language, said_at, speaker)


def began_before(claims: Iterable[Claim], said_at: datetime) -> datetime | None:
    """When all that a text claims had begun, where that was before it was said; else None."""
    begun = max((claim.begins_at for claim in claims), default=said_at)
    return begun if begun < said_at else None


def claim_of(subject: str, fact_type: FactType, relation: str, object_: str, language: str, said_at: datetime) -> Claim:
    """What a description says of a statement, with its words brought to the vocabulary; `other` where none fits."""
    phrase = Phrase() if is_user(subject) else (read_phrase(subject, 0, language or "en") or Phrase(name=subject))
    named = relation_of(relation) if relation else None
    by_type = BY_TYPE.get(fact_type, OTHER)
    found = named if named and named.fact_type == fact_type else RELATIONS[by_type]
    label = ""
    if found.is_labelled:
        label = label_key(relation, language or "en") or (fact_type if found.name == OTHER else "")
    return Claim(
        phrase.words, phrase.key, (found.name,), label, object_, object_key(object_), True, said_at, "model",
        CONFIDENCE["model"],
    )  # fmt: skip


def claim_by_hand(subject: str, relation: str, value: str, begins_at: datetime) -> tuple[Claim, str]:
    """A fact that a person gives in three parts, and the statement that says so.

    >>> from datetime import UTC
    >>> claim, statement = claim_by_hand("my sister", "phone number", "0151 234567", datetime(2026, 3, 9, tzinfo=UTC))
    >>> claim.subject_key, claim.relations, statement
    ('=user/sister', ('phone',), "the user's sister, phone number: 0151 234567")
    """
    phrase = _whom(subject)
    known = RELATIONS.get(relation) or relation_of(relation)
    words = f"{phrase.words}, {relation.replace('_', ' ')}: {value}"
    if known and known.name == "name" and phrase.steps and not phrase.called:
        # What somebody's sister is called tells who she is.
        known, phrase = RELATIONS[phrase.steps[-1].relation], phrase.without_last()
    label = "" if known else label_key(relation)
    name = known.name if known else OTHER
    claim = Claim(
        phrase.words, phrase.key, (name,), label, value, object_key(value), True, begins_at, "hand", CONFIDENCE["hand"]
    )  # fmt: skip
    return claim, words


def _whom(subject: str) -> Phrase:
    if is_user(subject) or subject.casefold() in _ME:
        return Phrase()
    for language in LANGUAGES:
        phrase = read_phrase(subject, 0, language)
        if phrase is not None and phrase.end == len(subject):
            return phrase
    return Phrase(name=subject)


def object_key(value: str) -> str:
    """What two spellings of one value share; a number is its digits."""
    key = name_key(value)
    digits = "".join(regex.findall(r"\p{N}", key))
    return f"+{digits}" if len(digits) >= 6 and not regex.search(r"\p{L}", key) else key


def mentions_of(claims: Iterable[Claim]) -> tuple[Mention, ...]:
    """The things that claims name: their subjects, and objects that are things."""
    found: dict[str, Mention] = {}
    for claim in claims:
        found.setdefault(claim.subject_key, _mention(claim.subject, claim.subject_key))
        if claim.object and any(RELATIONS[relation].names_thing for relation in claim.relations):
            is_person = RELATIONS[claim.relations[0]].is_role
            found.setdefault(
                claim.object_key, Mention(claim.object, claim.object_key, "person" if is_person else "other")
            )
    return tuple(found.values())


def with_claimed(mentions: Iterable[Mention], claims: Iterable[Claim]) -> tuple[Mention, ...]:
    """The mentions of a text, and those that its claims are about: the user, "the user's sister"."""
    found = {mention.key: mention for mention in mentions}
    for mention in mentions_of(claims):
        found.setdefault(mention.key, mention)
    return tuple(found.values())


def _mention(words: str, key: str) -> Mention:
    return Mention(USER_NAME if key == USER_KEY else words, key, "person" if key.startswith("=") else "other")


def _claim(stated: Stated, said_at: datetime, speaker: str) -> Claim:
    # Who speaks under a name means themselves by "I".
    subject = stated.subject if stated.subject.name else replace(stated.subject, name=speaker)
    return Claim(
        subject.words, subject.key, stated.relations, stated.label, stated.object,
        object_key(stated.object), stated.holds, _begins_at(stated, said_at), "text", CONFIDENCE["text"],
    )  # fmt: skip


def _begins_at(stated: Stated, said_at: datetime) -> datetime:
    """When a claim began to hold: a time that its clause gives for a change, else when it was said."""
    if stated.how == "is" and not _SINCE.search(stated.words):
        return said_at
    period = period_in(stated.words, said_at)
    return period.start if period and period.start < said_at else said_at
