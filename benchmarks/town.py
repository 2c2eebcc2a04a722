"""A town of people who work, live and know each other: as many memories and facts as wanted, and how to store them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_memory.extract import words_of
from mcp_memory.memory import LocalMemory
from mcp_memory.mentions import name_key
from mcp_memory.phrases import USER_KEY, USER_NAME
from mcp_memory.records import Change, Entity, EntityType, Fact, Memory, Owner
from mcp_memory.vocabulary import RELATIONS

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
OWNER = Owner("ana", "benchmark")
# Where half of all people work, and the user too.
HUB = "Quorvane"

ONSETS = (
    "Bar",
    "Cel",
    "Dov",
    "Fen",
    "Gal",
    "Hes",
    "Jor",
    "Kel",
    "Lor",
    "Mir",
    "Nal",
    "Oth",
    "Pel",
    "Quil",
    "Ros",
    "Sel",
)
ENDINGS = ("ana", "bert", "cia", "dric", "elin", "fonso")
CITIES = ("Lisbon", "Porto", "Leeds", "Graz", "Turin", "Lyon", "Bremen", "Cádiz", "Ghent", "Aarhus", "Basel", "Brno")
JOBS = ("welder", "nurse", "teacher", "surveyor", "baker", "translator", "electrician")
LANGUAGES = ("Dutch", "Welsh", "Basque", "Danish", "Polish")
LIKED = ("jazz", "sailing", "chess", "baking", "climbing", "birdsong", "pottery", "rowing")
OWNED = ("lamp", "kettle", "violin", "ladder", "clock", "radio", "tent", "scale")
OWNED_RELATIONS = ("owns", "uses", "amount", "favourite", "happens_at", "other")

# (whose name, relation, label, object as written, name of the object's entity or '')
Said = tuple[str, str, str, str, str]


@dataclass(slots=True)
class Town:
    """Who lives in the folder, by number."""

    n_people: int

    def person(self, number: int) -> str:
        """A name of two words that no other number gives."""
        n_first = len(ONSETS) * len(ENDINGS)
        first, last = number % n_first, number // n_first
        given = ONSETS[first % len(ONSETS)] + ENDINGS[first // len(ONSETS)]
        return f"{given} {ONSETS[last % len(ONSETS)]}{ONSETS[last // len(ONSETS)].lower()}son"

    def company(self, number: int) -> str:
        """Where somebody works: half of all at the hub, the others in fives."""
        return (
            HUB
            if number % 2
            else f"{ONSETS[number // 10 % 16]}{ONSETS[number // 160 % 16].lower()} Works {number // 2560}"
        )

    def of_person(self, number: int) -> Iterator[tuple[str, list[Said]]]:
        """The two memories about somebody, with six facts each."""
        me, company, city = self.person(number), self.company(number), CITIES[number % len(CITIES)]
        boss, friend, colleague = (self.person((number * factor + 1) % self.n_people) for factor in (3, 7, 11))
        phone, job = f"+351 9{number:08d}", JOBS[number % len(JOBS)]
        email = f"{me.replace(' ', '.').lower()}@example.org"
        liked, language = LIKED[number % len(LIKED)], LANGUAGES[number % len(LANGUAGES)]
        born = f"{1950 + number % 50}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        yield (
            f"{me} works at {company} as a {job} under {boss}, and lives in {city} next to {friend}",
            [
                (me, "works_at", "", company, company),
                (me, "job", "", job, ""),
                (me, "boss", "", boss, boss),
                (me, "lives_in", "", city, city),
                (me, "neighbour", "", friend, friend),
                (me, "colleague", "", colleague, colleague),
            ],
        )
        yield (
            f"{me} was born on {born}, likes {liked} and speaks {language}; phone {phone}, mail {email}",
            [
                (me, "birthday", "", born, ""),
                (me, "likes", "", liked, ""),
                (me, "speaks", "", language, ""),
                (me, "phone", "", phone, ""),
                (me, "email", "", email, ""),
                (me, "friend", "", friend, friend),
            ],
        )

    def of_user(self, count: int) -> Iterator[tuple[str, list[Said]]]:
        """The user's own memories, with a fact each."""
        boss, sister = self.person(1), self.person(2)
        for text, relation, value, name in (
            ("My phone number is +351 111222333", "phone", "+351 111222333", ""),
            ("My mail address is ana@example.org", "email", "ana@example.org", ""),
            ("I live in Porto", "lives_in", "Porto", "Porto"),
            (f"I work at {HUB}", "works_at", HUB, HUB),
            (f"My boss is {boss}", "boss", boss, boss),
            (f"My sister is {sister}", "sister", sister, sister),
        ):
            yield text, [("", relation, "", value, name)]
        for number in range(6, count):
            if number % 8 == 0:
                friend = self.person(number)
                yield f"{friend} is a friend of mine", [("", "friend", "", friend, friend)]
                continue
            label = f"{OWNED[number % 8]} number {number}"
            relation = OWNED_RELATIONS[number % len(OWNED_RELATIONS)]
            yield f"The {label} is worth {number * 3} euros to me", [("", relation, label, f"{number * 3} euros", "")]

    def memories(self) -> Iterator[tuple[str, list[Said]]]:
        """All of it, in the order in which it was said."""
        for number in range(self.n_people):
            yield from self.of_person(number)
        yield from self.of_user(self.n_people // 2)


class Writer:
    """Writes memories and facts into a log as they would have come in, without reading them out of the words."""

    def __init__(self, memory: LocalMemory) -> None:
        self._stores = memory.stores
        self._entities: dict[str, Entity] = {}

    def write(self, said: Sequence[tuple[str, list[Said]]], at: datetime) -> int:
        """One change with some memories; returns how many facts it has."""
        known = len(self._entities)
        change_id = self._stores.ids.next(at)
        memories: list[Memory] = []
        facts: list[Fact] = []
        links: list[tuple[str, str]] = []
        for text, claims in said:
            memory = self._memory(text, at, change_id)
            memories.append(memory)
            facts += [self._fact(claim, memory) for claim in claims]
            named = {name for whose, _, _, _, name in claims for name in (whose, name) if name}
            links += [(memory.id, self._entity(name, at, change_id).id) for name in named]
        change = Change(
            change_id, at, OWNER, "add", memories=tuple(memories), links=tuple(links), facts=tuple(facts),
            entities=tuple(list(self._entities.values())[known:]),
        )  # fmt: skip
        with self._stores.writing:
            self._stores.log.commit(change)
        return len(facts)

    def _memory(self, text: str, at: datetime, change_id: str) -> Memory:
        words = words_of(text, Counter(), frozenset())
        return Memory(
            id=self._stores.ids.next(at), user_id=OWNER.user_id, agent_id=OWNER.agent_id, run_id="", position=0,
            speaker="", role="user", about="user", kind="note", text=text, lemmas=words.lemmas, hash=words.hash,
            language=words.language, importance=0.5, observed_at=at, created_at=at, updated_at=at, expires_at=None,
            valid_from=None, invalid_at=None, closed_at=None, superseded_by="", state="active", episode_id="",
            metadata={}, model="", prompt="", revision=change_id,
        )  # fmt: skip

    def _fact(self, claim: Said, memory: Memory) -> Fact:
        whose, relation, label, value, name = claim
        return Fact(
            id=self._stores.ids.next(memory.created_at), user_id=OWNER.user_id,
            subject_id=self._entity(whose, memory.created_at, memory.revision).id, subject=whose or USER_NAME,
            fact_type=RELATIONS[relation].fact_type, relation=relation, label=label, object=value,
            object_key=name_key(value),
            object_id=self._entity(name, memory.created_at, memory.revision).id if name else "",
            holds=True, memory_id=memory.id, confidence=0.9, source="text", valid_from=memory.observed_at,
            invalid_at=None, created_at=memory.created_at, closed_at=None, revision=memory.revision,
        )  # fmt: skip

    def _entity(self, name: str, at: datetime, change_id: str) -> Entity:
        if name not in self._entities:
            kind: EntityType = "person" if not name else "other"
            self._entities[name] = Entity(
                self._stores.ids.next(at),
                OWNER.user_id,
                name or USER_NAME,
                name_key(name) if name else USER_KEY,
                kind,
                0,
                change_id,
            )
        return self._entities[name]
