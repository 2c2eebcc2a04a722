"""What may stand after a value in a statement: pure data for `statement_rest`, all of it expressions."""

from collections.abc import Mapping

# Between two values: "Lisbon and Porto", "to Berlin, then to Graz".
AND: Mapping[str, str] = {
    "en": "and|plus|as well as|then|later|before that|after that",
    "de": "und|sowie|plus|dann|danach|später|davor|anschließend",
    "es": "y|e|más|luego|después|más tarde|antes",
    "fr": "et|plus|ainsi que|puis|ensuite|après|plus tard|avant",
    "it": "e|ed|più|poi|dopo|in seguito|prima",
}
# Before the last one of a list.
LIST_AND: Mapping[str, str] = {
    "en": "and|as well as",
    "de": "und|sowie",
    "es": "y|e",
    "fr": "et",
    "it": "e|ed",
}
# What leads to a name: those of one group stand for each other.
PREPOSITIONS: Mapping[str, tuple[str, ...]] = {
    "en": ("to", "in", "at|for|with|by"),
    "de": ("nach", "in", "bei|für", "zu|zur|zum"),
    "es": ("a", "en", "para|por"),
    "fr": ("à|en|au|aux|dans", "chez|pour|par"),
    "it": ("a|ad|in", "per|presso|da|alla|al|nella"),
}
# A clause of its own, of which a time may be, and not of what stands before.
SUBORDINATE: Mapping[str, str] = {
    "en": "where|who|whose|which|that|when|while|after|before|because|as|so|although|though",
    "de": "wo|der|die|das|als|wenn|während|nachdem|bevor|weil|denn|obwohl",
    "es": "donde|que|quien|cuando|mientras|después|antes|porque|aunque",
    "fr": "où|qui|que|quand|lorsque|pendant|après|avant|parce|car",
    "it": "dove|che|quando|mentre|dopo|prima|perché",
}
# What says after a value that it is so no longer.
NO_LONGER: Mapping[str, str] = {
    "en": "no longer|no more|not|any ?more",
    "de": "nicht|nicht mehr|nicht länger",
    "es": "ya no|no",
    "fr": "plus|pas",
    "it": "non|non più",
}
# Of an adjective or a quantity: what follows is compared, and named nowhere.
COMPARISON: Mapping[str, str] = {
    "en": "as|like|than|to",
    "de": "wie|als|zu",
    "es": "que|como|de",
    "fr": "que|comme|à|de",
    "it": "che|come|di|da",
}
# After these another value takes the place of what was just said: before a name or a mark, and before anything.
CORRECTIONS: Mapping[str, tuple[str, str]] = {
    "en": ("sorry|no|nope|wait|oops|actually|well", "rather|or rather|make that|scratch that|correction"),
    "de": (
        "sorry|nein|quatsch|falsch|moment|entschuldigung|pardon|eigentlich",
        "vielmehr|besser gesagt|korrektur|beziehungsweise",
    ),
    "es": ("perdón|perdona|no|espera|error|en realidad", "mejor dicho|digo|corrijo|más bien"),
    "fr": ("pardon|non|désolée?|attends|erreur|en fait", "enfin|plutôt|je me trompe|correction"),
    "it": ("no|scusa|scusate|pardon|aspetta|errore|in realtà|veramente", "anzi|cioè|meglio|volevo dire"),
}
