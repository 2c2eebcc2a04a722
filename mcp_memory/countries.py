"""Which homes are a whole country or continent ("Germany", "les Pays-Bas", "Europe"), and which words are a language.

The names are those of the CLDR.

States that are one city count as cities. Regions within a country ("Bavaria") are not known here: many of them are
named as a city is.
"""

from collections.abc import Mapping
from functools import cache

from .mentions import name_key
from .statement_words import STATEMENT_WORDS

_CITIES = frozenset("DJ GI GT HK KW LU MC MO PA SG SM VA".split())
_NO_COUNTRIES = frozenset("EU EZ QO UN XA XB ZZ".split())
# Africa, Asia, Europe, Oceania, the Americas.
_CONTINENTS = frozenset("002 142 150 009 003 005 419".split())
# What people say beside the names of the CLDR, and what German makes of some after "in den"; "/" stands between two.
_ALSO: Mapping[str, str] = {
    "US": "usa/us/u.s/u.s.a/america/united states of america/amerika/vereinigten staaten/ee.uu/eeuu/états unis",
    "GB": "uk/britain/great britain/großbritannien/vereinigten königreich/gran bretaña/grande-bretagne/gran bretagna",
    "GB-ENG": "england/inglaterra/angleterre/inghilterra",
    "GB-SCT": "scotland/schottland/escocia/écosse/scozia",
    "GB-WLS": "wales/gales/pays de galles/galles",
    "GB-NIR": "northern ireland/nordirland/irlanda del norte/irlande du nord/irlanda del nord",
    "NL": "holland/holanda/hollande/olanda/niederlanden",
    "CZ": "czech republic/tschechische republik/tschechischen republik/república checa/république tchèque"
    "/repubblica ceca",
    "TR": "turkey",
    "PH": "philippines",
    "AE": "emirates/uae/emiraten/émirats",
}
# Languages by other names than the CLDR has.
_ALSO_SPOKEN = (
    "mandarin/cantonese/farsi/flemish/castilian/tagalog/sign language/british english/american english/kantonesisch"
    "/hochdeutsch/bairisch/plattdeutsch/gebärdensprache/castellano/mandarín/cantonés/lengua de signos/valenciano/farsi"
    "/persa/flamand/cantonais/langue des signes/cantonese/mandarino/fiammingo/napoletano/castigliano"
    "/moldavian/montenegrin"
)


def area_of(key: str) -> str:
    """The code of the country ("DE", "GB-ENG") or the continent (digits) that a name's key means, '' for neither.

    >>> area_of("deutschland"), area_of("europe"), area_of("berlin"), area_of("singapore")
    ('DE', '150', '', '')
    """
    return _areas().get(key, "")


def is_language(key: str) -> bool:
    """Whether a name's key is that of a language, in one of the languages that facts are read in.

    >>> is_language("deutsch"), is_language("spagnolo"), is_language("sul serio")
    (True, True, False)
    """
    return key in _tongues()


@cache
def _tongues() -> frozenset[str]:
    from babel import Locale

    names = [name for language in STATEMENT_WORDS for name in Locale(language).languages.values()]
    return frozenset(map(name_key, (*names, *_ALSO_SPOKEN.split("/"))))


@cache
def _areas() -> Mapping[str, str]:
    from babel import Locale

    names = [
        (name, code)
        for language in STATEMENT_WORDS
        for code, name in Locale(language).territories.items()
        if code in _CONTINENTS or (code.isalpha() and code not in _CITIES | _NO_COUNTRIES)
    ]
    names += [(name, code) for code, others in _ALSO.items() for name in others.split("/")]
    return {name_key(name): code for name, code in names}
