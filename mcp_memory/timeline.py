"""When each of several statements about one key held: what comes later in the world takes the place of the earlier.

Pure: the order in which statements arrive does not matter, only the times that they tell of.

Of homes a broad one and a narrow one are so together: "I live in Germany" ends no Berlin, nor Berlin a Germany. A move
ends both, and so does another country than the last one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .records import FactSource

_RANKS: Mapping[FactSource, int] = {"model": 0, "text": 1, "hand": 2}


# Fewer digits at the end may be those of two numbers.
_MIN_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Stage:
    """One statement about a key: that from a time on it has a value, or has it no longer.

    `value` is '' where an end is told of whatever there was. Of two that tell of the same moment, the one of the
    better source holds, then the one that arrived later (ids grow with time).
    """

    id: str
    value: str
    holds: bool
    begins_at: datetime
    source: FactSource = "text"
    # When it was last said again; what contradicts it before that did not end it for good.
    seen_at: datetime | None = None
    # When it is over by itself, None for never.
    expires_at: datetime | None = None
    # The code of the country or continent that its value is, '' for anything else.
    area: str = ""
    # Whether it is told of as a change ("I moved to") rather than as what is so. Only where areas are it matters.
    is_change: bool = True

    @property
    def width(self) -> int:
        """How broad a home it is: 0 anything within a country, 1 a country, 2 a continent."""
        return 0 if not self.area else 1 if self.area[0].isalpha() else 2

    @property
    def order(self) -> tuple[datetime, int, str]:
        """Its place in the timeline."""
        return (self.begins_at, _RANKS[self.source], self.id)


@dataclass(frozen=True, slots=True)
class End:
    """When a stage ended, and by which one."""

    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Run:
    """How long something held without a break: from when, until what ended it, and the stages that say so."""

    begins_at: datetime
    end: End | None
    stage_ids: tuple[str, ...]


def ends_of(stages: Sequence[Stage], *, is_single: bool) -> dict[str, End]:
    """The end of each stage that has one, by id. Of a key with one value at a time, each value ends the one before.

    >>> from datetime import UTC, datetime
    >>> berlin = Stage("a", "berlin", True, datetime(2026, 1, 5, tzinfo=UTC))
    >>> lisbon = Stage("b", "lisbon", True, datetime(2026, 5, 9, tzinfo=UTC))
    >>> ends_of([lisbon, berlin], is_single=True)["a"].by
    'b'
    """
    repeated = [
        # Who said in May that they had moved in March, did not move in May.
        replace(stage, begins_at=stage.seen_at, is_change=False)
        for stage in stages
        if stage.seen_at is not None and stage.seen_at > stage.begins_at
    ]
    ordered = list(_with_moves(sorted([*stages, *repeated], key=lambda stage: stage.order)))
    ends: dict[str, End] = {}
    for place, stage in enumerate(ordered):
        # Of a stage that was said again, the last time counts.
        ends.pop(stage.id, None)
        for later in ordered[place + 1 :]:
            if _outlasts(later, stage) and _contradicts(later, stage, is_single=is_single):
                ends[stage.id] = End(later.begins_at, later.id)
                break
    return ends


def runs_of(stages: Sequence[Stage], ends: Mapping[str, End]) -> list[Run]:
    """The times for which one thing held that was said at several, which its stages tell; the earliest first.

    What ended it between two of them parts it there.
    """
    runs: list[Run] = []
    for stage in sorted(stages, key=lambda stage: stage.order):
        last = runs[-1] if runs else None
        if last and (last.end is None or last.end.at > stage.begins_at):
            runs[-1] = Run(last.begins_at, ends.get(stage.id), (*last.stage_ids, stage.id))
        else:
            runs.append(Run(stage.begins_at, ends.get(stage.id), (stage.id,)))
    return runs


def _outlasts(later: Stage, earlier: Stage) -> bool:
    """Whether the later stage is over no sooner than the earlier one, which still held when the later one began.

    What holds for a while only does not end what holds for longer: that is so again afterwards.
    """
    if earlier.expires_at is None:
        return later.expires_at is None
    if later.begins_at >= earlier.expires_at:
        return False
    return later.expires_at is None or later.expires_at >= earlier.expires_at


def _with_moves(ordered: Iterable[Stage]) -> Iterator[Stage]:
    """The stages of one key, those as changes too that tell of another country or continent than the last one."""
    last: dict[int, str] = {}
    for stage in ordered:
        if stage.source == "model":
            yield stage
            continue
        if not stage.holds:
            last = {width: area for width, area in last.items() if stage.value and not _is_one(area, stage.area)}
            yield stage
            continue
        before = last.get(stage.width, stage.area)
        is_change = stage.is_change or not (before == stage.area or _is_one(before, stage.area))
        last = {} if is_change else last
        if stage.area:
            last[stage.width] = stage.area
        yield replace(stage, is_change=is_change)


def _contradicts(later: Stage, earlier: Stage, *, is_single: bool) -> bool:
    if later.source == "model":
        # What a model reads in a text ends nothing by itself.
        return False
    is_same_area = _is_one(later.area, earlier.area)
    if later.holds and earlier.holds:
        is_other = is_single and not is_same_area and not same_value(later.value, earlier.value)
        return is_other and (later.is_change or later.width == earlier.width)
    if later.holds == earlier.holds:
        return False
    # Who is no longer allergic to pine nuts may be so to nuts; but who is not to nuts, is not to pine nuts.
    wide, narrow = (later.value, earlier.value) if earlier.holds else (earlier.value, later.value)
    return not later.value or not earlier.value or is_same_area or set(wide.split()) <= set(narrow.split())


def _is_one(area: str, other: str) -> bool:
    """Whether two codes are those of one country, or of a part of it: GB and GB-ENG."""
    return bool(area and other) and (area.startswith(other) or other.startswith(area))


def same_value(one: str, other: str) -> bool:
    """Whether two values are one, perhaps told more exactly: "berlin" and "berlin kreuzberg", but not "new york".

    >>> same_value("berlin", "berlin kreuzberg"), same_value("york", "new york"), same_value("", "x")
    (True, False, False)
    """
    if one.startswith("+") and other.startswith("+"):
        # Numbers with and without the code of their country.
        short, long = sorted((one.lstrip("+0"), other.lstrip("+0")), key=len)
        return len(short) >= _MIN_DIGITS and long.endswith(short)
    these, those = _words(one), _words(other)
    shorter, longer = sorted((these, those), key=len)
    return these == those or (bool(shorter) and longer[: len(shorter)] == shorter)


def _words(value: str) -> list[str]:
    return value.replace(",", " ").split()
