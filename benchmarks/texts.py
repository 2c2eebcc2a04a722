"""Statements and questions for measurements: as many as wanted, no two the same."""

THINGS = ("boat", "lamp", "letter", "garden", "kettle", "map", "violin", "ladder", "coat", "clock")
PLACES = ("harbour", "attic", "market", "library", "station", "orchard", "kitchen", "museum", "school", "cellar")
PEOPLE = ("Rui", "Eva", "Maria Quintela", "Tom", "Greta", "Henrique", "Lucía", "Anna", "Jonas", "Mei")


def sentence(number: int) -> str:
    """A statement that no other number gives."""
    thing, place = THINGS[number % 10], PLACES[number // 10 % 10]
    return f"{PEOPLE[number // 100 % 10]} left the {thing} number {number} in the {place} on day {number // 7}"


def questions(count: int) -> list[str]:
    """Questions about what `sentence` says."""
    return [f"Where did {PEOPLE[n % 10]} leave the {THINGS[n * 3 % 10]}?" for n in range(count)]
