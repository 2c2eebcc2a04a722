"""How questions name a relation without its noun ("where do I live"), in five languages: pure data for `questions`.

All are regular expressions, matched in any case. Nouns are in `relation_words`.
"""

from collections.abc import Mapping

VERBS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "lives_in": r"(?:where|(?:which|what) (?:city|cities|towns?|places|countries)|who|in (?:which|what) (?:city|town|place|country)).*\b(?:live[sd]?|living|reside[sd]?|based)\b|\b(?:live[sd]?|living) (?:in|where)\b|\b(?:home|city|town) (?:am i|is)\b",
        "works_at": r"(?:where|who|which (?:company|firm|companies|firms)|for whom|what company).*\b(?:(?:works?|working|worked)(?! out)|employed|employs)\b|\bworks? (?:at|for|where)\b",
        "job": r"what .*\bdo(?:es)?\b.* for (?:a living|work)|\bwork as\b|what (?:kind of|sort of) (?:work|job)",
        "studies_at": r"where .*\bstud(?:y|ies|ied|ying)\b",
        "birthday": r"when .*\bborn\b|when .*\bbirthday\b",
        "born_in": r"where .*\bborn\b",
        "age": r"how old\b",
        "speaks": r"\b(?:which|what) languages?\b|\blanguages? .*\bspeaks?\b",
        "allergic_to": r"\ballergic\b|\ballerg(?:y|ies)\b",
        "partner": r"\bmarried to\b|\bwho .*\bmarried\b",
        "name": r"what(?:'s| is) .*\bcalled\b",
        "favourite": r"\bfavou?rite\b",
    },
    "de": {
        "lives_in": r"\bwo\b.*\b(?:ge)?(?:wohn\w*|leb\w*)\b|\bin welcher stadt\b|\bwer wohnt\b",
        "works_at": r"\b(?:wo|wer|bei wem|für wen|bei welcher firma)\b.*\b(?:ge)?arbeite\w*\b",
        "job": r"\bals was\b.*\barbeite\w*\b|\bvon beruf\b|\bwas (?:mache?t?|arbeite\w*)\b.*\bberuflich\b",
        "birthday": r"\bwann\b.*\b(?:geboren|geburtstag)\b",
        "born_in": r"\bwo\b.*\bgeboren\b",
        "age": r"\bwie alt\b",
        "speaks": r"\bwelche sprachen?\b",
        "allergic_to": r"\ballergisch\b",
        "partner": r"\bverheiratet\b",
        "favourite": r"\blieblings\w+",
    },
    "es": {
        "lives_in": r"\bdónde\b.*\b(?:viv\w+|resid\w+)\b|\bdonde\b.*\bviv\w+\b|\ben qué ciudad\b",
        "works_at": r"\b(?:dónde|donde|quién|quien|para quién|en qué empresa)\b.*\btrabaj\w+\b",
        "job": r"\ba qué (?:me dedico|se dedica)\b|\bde qué trabaj\w+\b",
        "birthday": r"\bcuándo\b.*\b(?:nac\w+|cumpl\w+)\b",
        "born_in": r"\bdónde\b.*\bnac\w+\b",
        "age": r"\bcuántos años\b",
        "speaks": r"\bqué (?:idiomas|lenguas)\b",
        "allergic_to": r"\balérgic\w+\b",
        "partner": r"\bcasad[oa]\b",
        "favourite": r"\b(?:favorit[oa]|preferid[oa])\b",
    },
    "fr": {
        "lives_in": r"\boù\b.*\b(?:habit\w*|vi[stv]\w*|vécu)\b|\bdans quelle ville\b",
        "works_at": r"\b(?:où|qui|chez qui|pour qui|dans quelle (?:entreprise|boîte))\b.*\b(?:travaill\w*|boss\w*)\b",
        "job": r"\bquel (?:est )?.*\bmétier\b|\bfai[st]\b.* dans la vie\b",
        "birthday": r"\bquand\b.*\bnée?\b|\bquand\b.*\banniversaire\b",
        "born_in": r"\boù\b.*\bnée?\b",
        "age": r"\bquel âge\b",
        "speaks": r"\bquelles langues\b",
        "allergic_to": r"\ballergique\w*\b",
        "partner": r"\bmariée?\b",
        "favourite": r"\bpréférée?\b",
    },
    "it": {
        "lives_in": r"\bdove\b.*\b(?:abit\w*|viv\w*|vissuto)\b|\bin (?:che|quale) città\b",
        "works_at": r"\b(?:dove|chi|per chi|in (?:che|quale) azienda)\b.*\blavor\w*\b",
        "job": r"\bche lavoro\b|\bcosa f(?:accio|a)\b.* lavoro\b",
        "birthday": r"\bquando\b.*\b(?:nat[oa]|compie\w*)\b",
        "born_in": r"\bdove\b.*\bnat[oa]\b",
        "age": r"\bquanti anni\b",
        "speaks": r"\b(?:che|quali) lingue\b",
        "allergic_to": r"\ballergic\w*\b",
        "partner": r"\bsposat[oa]\b",
        "favourite": r"\bpreferit[oa]\b",
    },
}

# The one who asks.
FIRST_PERSON: Mapping[str, str] = {
    "en": r"\b(?:i|me|we|i'm|i've)\b",
    "de": r"\b(?:ich|mir|mich|wir)\b",
    "es": r"\b(?:yo|me|he|vivo|vivía|viví|trabajo|trabajaba|trabajé|hablo|nací|soy|tengo|estoy)\b",
    "fr": r"(?:\bj'\w*|\b(?:je|moi|nous)\b|-je\b)",
    "it": r"\b(?:io|mi|abito|abitavo|vivo|vivevo|lavoro|lavoravo|parlo|sono|ho)\b",
}

# Whose own thing is asked for by these, where the question says "I": "which bank do I use?".
WHICH: Mapping[str, str] = {
    "en": "which|what|how much|how many",
    "de": "welche[rsmn]?|was für (?:eine?[nmr]?)?|wie viele?|wieviele?",
    "es": "qué|que|cuál|cual|cuánt[oa]s?|cuant[oa]s?",
    "fr": "quel|quelle|quels|quelles|combien de",
    "it": "che|quale|quali|qual|quant[oaie]",
}
# After the noun: a verb by which the speaker means themselves, where the language leaves "I" out.
MEANS_ME: Mapping[str, str] = {"es": r"\p{L}+(?:o|oy)", "it": r"\p{L}+o|ho"}

# What was so before something that is named after it, or before now where nothing is.
BEFORE: Mapping[str, str] = {
    "en": r"\b(?:before|prior to)\b",
    "de": r"\b(?:bevor|vor)\b",
    "es": r"\bantes(?: del?\b)?",
    "fr": r"\bavant\b",
    "it": r"(?<!\b(?:la|mia|nostra|una) )\bprima\b(?: d(?:i|el|ella|ello)\b| dell['’])?",
}
# What was so and is so no more.
FORMERLY: Mapping[str, str] = {
    "en": r"(?:\b(?:my|our|the)|'s) (?:old|former|previous|ex)[\s-]|\b(?:previously|formerly|used? to)\b",
    "de": r"\b(?:vorher|zuvor|davor|früher|ehemals)\b|\bex-(?=\p{L})"
    r"|\b(?:mein\w*|unser\w*|der|die|das|dem|den) (?:alte|frühere|ehemalige|vorige|vorherige)[nrsm]?\b",
    "es": r"\b(?:anteriormente|previamente|antiguamente)\b|\p{L} (?:anterior|antigu[oa])\b"
    r"|\b(?:mi|mis|el|la|nuestr[oa]) (?:antigu[oa]|anterior|viej[oa]|ex)[\s-]",
    "fr": r"\b(?:auparavant|autrefois|précédemment)\b|\p{L} précédent\w*"
    r"|(?:\b(?:mon|ma|mes|notre|le|la) |\bl')(?:ancien(?:ne)?|vieux|vieil|vieille|ex)[\s-]",
    "it": r"\b(?:precedentemente|in precedenza)\b|\p{L} precedente\b"
    r"|\b(?:mi[oa]|il|la|nostr[oa]) (?:vecchi[oa]|precedente|ex)[\s-]",
}

# At which time: while something else was so, which the question names after it.
WHILE: Mapping[str, str] = {
    "en": r"\b(?:when|while|as long as|at the time)\s(?!(?:did|was|were|do|does|is|are|have|has|will|can|to)\b)",
    "de": r"\b(?:als|während|solange)\s(?=(?:ich|wir|er|sie|es|mein\w*|unser\w*|(?-i:\p{Lu})\w*)\s)",
    "es": r"\b(?:cuando|mientras)\s",
    "fr": r"\b(?:(?:lorsque|quand|pendant que)\s|(?:lorsqu|pendant qu)['’]\s?)(?!(?:est-ce|ai-je|a-t)\b)",
    "it": r"\b(?:quando|mentre)\s",
}
# Then the clause says that it was so.
WAS: Mapping[str, str] = {
    "en": r"\b(?:was|were|had|used to|(?!need\b)\p{L}+ed)\b",
    "de": r"\b(?:war\w*|hatte\w*|wohnte\w*|lebte\w*|arbeitete\w*|studierte\w*"
    r"|ge(?:wohnt|lebt|arbeitet) (?:habe|hat|haben))\b",
    "es": r"\b(?:\p{L}+(?:ía|aba|ías|abas|íamos|ábamos|ían|aban)|era|éramos|eran|fui|viví|trabajé|tuve|estuve)\b",
    "fr": r"\b(?:j['’])?(?:\p{L}+(?:ais|ait|ions|aient)|(?:ai|a) (?:vécu|habité|travaillé))\b",
    "it": r"\b(?:\p{L}+(?:avo|ava|evo|eva|ivo|iva|avamo|evamo|avano|evano)|ero|era|eravamo|erano"
    r"|ho (?:vissuto|abitato|lavorato))\b",
}
# Who asks in the present asks about now, whatever was when: "what is the code that I got when I moved here?".
IS: Mapping[str, str] = {
    "en": r"\b(?:is|are|am|do|does)\b|\bwh(?:at|o|ere)'s\b",
    "de": r"\b(?:ist|sind|bin|heißt|lautet)\b(?!.*\b(?:ge\p{L}+|\p{L}+ge\p{L}+)\W*$)",
    "es": r"\b(?:es|son|está|están)\b",
    "fr": r"\b(?:est|sont)\b(?!-ce)",
    "it": r"(?:\b(?:è|sono|sta)\b|\bqual'è)(?!.*\b(?:stat|vissut|nat)[oaie]\b)",
}
# That something was so, of the speaker, where the language leaves "I" out and nobody is named.
WAS_ME: Mapping[str, str] = {
    "es": r"^(?:vivía|viví|trabajaba|trabajé|estudiaba|estudié|estaba|estuve|era|tenía|tuve)\b",
    "it": r"^(?:abitavo|vivevo|lavoravo|studiavo|stavo|ero|avevo|ho)\b",
}

# All that was ever so: the perfect, or a word for it.
EVER: Mapping[str, str] = {
    "en": r"\b(?:have|has|i've|we've)\s"
    r".*\b(?:lived|worked|had|been|studied|used|owned|resided)(?:\s(?:in|at|for|with))?\W*$"
    r"|\b(?:have|has|did)\b.*\bever\b|\bso far\b|\bwho\s(?:has|have)\sbeen\s",
    "de": r"\b(?:hab|habe|hat|haben|bin|ist|sind)\b"
    r".*\b(?:gehabt|gewohnt|gelebt|gearbeitet|gewesen|studiert|benutzt|genutzt)\W*$"
    r"|\b(?:schon (?:überall|alles|einmal|mal)|überall schon|bisher|bislang|jemals)\b|\bhatten? \p{L}+ (?:\p{L}+ )?schon\b",
    "es": r"\b(?:he|ha|hemos|han)\s"
    r"(?:\p{L}+\s)?(?:vivido|trabajado|tenido|estado|estudiado|usado)\b|\balguna vez\b|\bhasta ahora\b",
    "fr": r"\b(?:j['’]ai|ai|a|avons|ont)(?:-(?:t-)?\p{L}+)?\s"
    r"(?:\p{L}+\s)?(?:vécu|habité|travaillé|eue?s?|été|étudié|utilisée?s?)\b|\bjusqu['’](?:ici|à présent)",
    "it": r"\b(?:ho|ha|abbiamo|hanno|sono|è|siamo)\s"
    r"(?:\p{L}+\s)?(?:vissut[oaie]|abitato|lavorato|avut[oaie]|stat[oaie]|studiato|usat[oaie])\b|\bfinora\b",
}
# But not for how long what is so has been so.
LASTS: Mapping[str, str] = {
    "en": r"\b(?:how long|since when)\b",
    "de": r"\b(?:wie lange|seit wann)\b",
    "es": r"\b(?:cuánto tiempo|desde cuándo)\b",
    "fr": r"\b(?:combien de temps|depuis quand)\b",
    "it": r"\b(?:quanto tempo|da quando)\b",
}

# Two who have the same: then the way leads on from what one has to the others who have it.
SHARED: Mapping[str, str] = {
    "en": r"\b(?:share[sd]?|same|also|in common|both|where .* works|who else|besides)\b",
    "de": r"\b(?:teil\w+|gleiche\w*|selbe\w*|dieselbe\w*|denselben|auch|gemeinsam|noch)\b",
    "es": r"\b(?:comparten?|mism[oa]s?|también|en común)\b|\bqui[eé]n\w*\b.*\bd[oó]nde (?:trabaja|vive)\b",
    "fr": r"\b(?:partagent?|mêmes?|aussi|en commun)\b|\bqui\b.*\boù (?:travaille|habite)\b",
    "it": r"\b(?:condivid\w+|stess[oaei]|anche|in comune)\b|\bchi\b.*\bdove (?:lavora|abita|vive)\b",
}

# By these a question shows its language.
SIGNS: Mapping[str, str] = {
    "en": "who|where|what|what's|which|when|how|does|do|is|whose",
    "de": "wer|wo|was|welche[rsmn]?|wann|wie|bei wem|wem|wessen",
    "es": "quién|quien|dónde|donde|qué|cuál|cual|cuándo|cómo|cuántos",
    "fr": "qui|où|que|quel|quelle|quels|quelles|quand|comment|combien|chez",
    "it": "chi|dove|che|qual|quale|quali|quando|come|quanti|cosa",
}
