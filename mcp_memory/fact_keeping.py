"""What a memory tells of its facts and of its user, and how a person gives a fact by hand."""

import builtins

import regex

from . import add as adding
from . import inputs
from .claims import claim_by_hand
from .errors import InvalidInputError
from .knowledge import audit_of, facts_of_user
from .parts import Parts
from .records import AddResult, Episode, Fact, Message, Owner
from .reports import FactAudit
from .search_records import UserProfile
from .turns import Turn
from .user_profile import user_profile

MAX_FACTS = 1000
_UNPRINTED = regex.compile(r"\p{C}+")


class FactKeeping:
    """The methods of `LocalMemory` about facts, and about whom they are of."""

    _parts: Parts
    _owner: Owner
    _turn: Turn

    def facts(self, *, of: str = "", relation: str = "", ended: bool = False, limit: int = 100) -> builtins.list[Fact]:
        """The facts in force, newest first; with `ended` those that have ended too, but none that was withdrawn.

        `of` keeps those whose subject has that in its name, in any case ("Ana", "the user"), `relation` those of one
        relation of the vocabulary.

        Raises:
            InvalidInputError: `limit` is not in 1 to 1,000.
        """
        if not 1 <= limit <= MAX_FACTS:
            raise InvalidInputError(f"limit {limit} is not in 1..{MAX_FACTS}", hint=f"use 1 to {MAX_FACTS}")
        log, user_id, now = self._parts.stores.log, self._owner.user_id, self._parts.clock()
        return facts_of_user(log, user_id, now, of=of, relation=relation, with_ended=ended, limit=limit)

    def audit_facts(self) -> FactAudit:
        """How many facts there are of each relation, and under which labels those that no relation fits."""
        return audit_of(self._parts.stores.log, self._owner.user_id)

    def profile(self) -> UserProfile:
        """Who the user is: the summary, the most important statements about them, and facts beside those.

        Raises:
            StorageError: the log cannot be read.
        """
        return user_profile(self._owner.user_id, self._parts.stores)

    def add_fact(self, subject: str, relation: str, value: str, *, since: inputs.Moment = None) -> AddResult:
        """Remember a fact given by hand, with the statement that says so; it outranks what texts and models say.

        `subject` is "me", a name, or a phrase such as "my sister" or "Ana's boss"; `relation` a noun ("phone number",
        "boss", "billing unit") or a name of the vocabulary ("lives_in"). A value that there is one of takes the place
        of the one before, from `since` on (default: now).

        Raises:
            InvalidInputError: a part is empty or too long, or `since` is no time; nothing was stored.
            StorageError: nothing was stored.
        """
        now = self._parts.clock()
        begun = inputs.moment("since", since) or now
        subject, relation, value = (" ".join(_UNPRINTED.sub(" ", part).split()) for part in (subject, relation, value))
        parts = {"subject": subject, "relation": relation, "value": value}
        for name, given in parts.items():
            if not given:
                raise InvalidInputError(f"the {name} is empty", hint="give subject, relation and value")
            inputs.short(name, given)
        claim, statement = claim_by_hand(subject, relation, value, begun)
        episode = Episode(
            id=self._parts.next_id(now),
            owner=self._owner,
            messages=(Message("user", statement),),
            infer=False,
            about="user",
            kind="fact",
            run_id="",
            observed_at=begun,
            created_at=now,
            expires_at=None,
            metadata={},
        )
        added = adding.add(episode, self._parts.stores, self._turn, by_hand=(claim,))
        self._parts.after_change()
        return added.result
