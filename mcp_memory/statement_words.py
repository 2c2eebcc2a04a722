"""How five languages say that somebody lives, works, was born somewhere: pure data for `statements`.

A row is "RELATION KIND = FIRST ;; THIRD": expressions after the subject's place, for the first person (with its
pronoun, where there is one) and for the third. KIND is `is` (a state), `begins` (a change to it) or `ends`. In the
expressions {a} stands for adverbs, {from} for "from there", {o} for a name, {v} for a plain word or two, {list} for
several, {date} and {n} for a date and a number, {any} for nothing: whatever there was, {gap} for words that are passed over,
{unsure} for nothing where a place could follow as well as a firm. After {end} the clause is over, but for words of time.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatementWords:
    """What one language needs beside its rows; all are expressions, matched in any case."""

    rows: str
    adverbs: str
    # "from Graz" between a verb of motion and its aim.
    origin: str
    user: str
    # Between what somebody has and what it is: "is", "has changed to".
    copula: str
    # "is called", after a person or an animal.
    called: str
    # "I have a new … :", before the noun.
    has_new: str
    # "has a new", of somebody else.
    other_has_new: str
    # What may stand before the subject without changing what is said.
    lead_in: str
    articles: str
    # Where two clauses meet.
    joins: str
    # Something else beside it, or for some of the time: then it is not the only one.
    beside: str
    # Reported, imagined, asked: what `tense` does not see.
    unsure: str
    stops: str
    # What stands where a place, a firm or a trade stands, and is none: "live in fear", "de noche", "in der Stadt".
    no_objects: str


STATEMENT_WORDS: Mapping[str, StatementWords] = {
    "en": StatementWords(
        rows=r"""
            lives_in is = (?:i|we) {a}(?:live|reside) {a}in {o}|(?:i'm|i am|we're|we are) {a}(?:living|based) {a}in {o} ;; (?:{a}(?:lives|resides)|(?:is|'s) {a}(?:living|based)) {a}in {o}
            lives_in begins = (?:(?:i|we)(?:'ve| have)? )?{a}(?:left {gap} and )?(?:moved|relocated) {a}{from}(?:back )?to {o} ;; (?:(?:has|'s) )?{a}(?:moved|relocated) {a}{from}(?:back )?to {o}
            lives_in begins = (?:i'm|i am|we're|we are) {a}(?:living|based) {a}in {o} now ;; (?:is|'s) {a}(?:living|based) {a}in {o} now
            lives_in is = (?:i|we)(?:'ve| have) {a}(?:lived|been living) {a}in {o}(?= since\b) ;; (?:has|'s) {a}(?:lived|been living) {a}in {o}(?= since\b)
            works_at is = i(?:'ve| have) {a}(?:worked|been working) {a}(?:at|for) {o}(?= since\b) ;; (?:has|'s) {a}(?:worked|been working) {a}(?:at|for) {o}(?= since\b)
            lives_in ends = (?:i|we) (?:no longer live|don't live|do not live) {a}in {o} ;; (?:no longer lives|doesn't live|does not live) {a}in {o}
            works_at is = i {a}work {a}(?:at|for) {o}|(?:i'm|i am) {a}(?:working|employed) {a}(?:at|for|by) {o}|i {a}work as an? {gap} (?:at|for) {o}|(?:i'm|i am) {a}an? {trade} at {o} ;; {a}works {a}(?:at|for) {o}|(?:is|'s) {a}(?:working|employed) {a}(?:at|for|by) {o}|{a}works as an? {gap} (?:at|for) {o}|(?:is|'s) {a}an? {trade} at {o}
            works_at begins = i(?:'ve| have)? {a}(?:started(?: working| a (?:new )?job| my (?:new )?job)? (?:at|with)|switched jobs to|got a (?:new )?job (?:at|with)) {o} ;; (?:(?:has|'s) )?{a}(?:started(?: working| a (?:new )?job)? (?:at|with)|switched jobs to|got a (?:new )?job (?:at|with)) {o}
            works_at|studies_at ends = i(?:'ve| have)? {a}(?:left|quit) (?:my job at )?{o}{end} ;; (?:(?:has|'s) )?{a}(?:left|quit) {o}{end}
            works_at ends = i (?:no longer work|don't work|do not work) (?:at|for) {o}|(?:i'm|i am) no longer (?:at|with) {o}|i(?:'ve| have)? {a}resigned from {o} ;; (?:no longer works|doesn't work|does not work) (?:at|for) {o}
            works_at ends = i(?:'ve| have)? {a}(?:quit|lost|left) my job{any}|(?:i'm|i am) {a}(?:unemployed|retired){any}|i(?:'ve)? (?:just )?retired{any} ;; (?:(?:has|'s) )?{a}(?:quit|lost|left) (?:his|her|their) job{any}|(?:(?:has|'s) )?(?:just )?retired{any}
            studies_at is = i {a}study {a}at {o} ;; {a}studies {a}at {o}
            job is = i {a}work {a}as (?:an? |the )?{v}|(?:i'm|i am) {a}an? (?P<v>{trade})(?= at \p{Lu})|(?:i'm|i am) {a}working {a}as (?:an? |the )?{v} ;; {a}works {a}as (?:an? |the )?{v}|(?:is|'s) {a}an? (?P<v>{trade})(?= at \p{Lu})|(?:is|'s) {a}working {a}as (?:an? |the )?{v}
            job begins = i(?:'ve| have)? {a}(?:become (?:an? |the )|became (?:an? |the )|(?:been|got|was) promoted to (?:an? |the )?){v}|i was {a}promoted to (?:an? |the )?{v} ;; (?:(?:has|'s) )?{a}(?:become (?:an? |the )|became (?:an? |the )|(?:been|got|was) promoted to (?:an? |the )?){v}
            born_in is = i was born in {o} ;; was born in {o}
            birthday is = i was born on {date} ;; was born on {date}
            age is = (?:i'm|i am) {a}{n}(?: years old|(?=\s*[.,;!?]|$))|i(?:'ve)? (?:just )?turned {n}{end} ;; (?:is|'s) {a}{n}(?: years old|(?=\s*[.,;!?]|$))|(?:(?:has|'s) )?(?:just )?turned {n}{end}
            drives is = i {a}drive an? {o} ;; {a}drives an? {o}
            drives begins = (?:i'm|i am) {a}driving an? {o} ;; (?:is|'s) {a}driving an? {o}
            boss is = i {a}report to {o} ;; {a}reports to {o}
            partner is = (?:i'm|i am) {a}married to {o} ;; (?:is|'s) {a}married to {o}
            phone is = (?:you can |please )?(?:reach|call|text) me (?:at|on|under) {phone}
            speaks is = i {a}speak {a}(?:fluent )?{list} ;; {a}speaks {a}(?:fluent )?{list}
            allergic_to is = (?:i'm|i am) {a}allergic to {list}|i have an allergy to {list} ;; (?:is|'s) {a}allergic to {list}|has an allergy to {list}
            allergic_to ends = (?:i'm|i am) no longer allergic to {list}|(?:i'm|i am) not allergic to {list} ;; (?:is|'s) (?:no longer|not) allergic to {list}
        """,
        adverbs="now|currently|still|actually|just|recently|finally|already|permanently|officially|here|over|again|back"
        "|together|house|home|away|also|really|happily|mostly|these days|at the moment|right now|last (?:week|month|year)"
        "|this (?:week|month|year)|yesterday|today",
        origin="from {x} ",
        user="(?:the )?user",
        copula=r"(?:(?: since [^,.;:]{2,20})?(?: is|'s| are)|(?: in [^,.;:]{2,20})?(?=:)| has(?: just)? (?:changed to|become)| changed to"
        r"|(?: was| has been| got)(?: just)? (?:raised|lowered|changed|increased|reduced|moved|set|put up) to)"
        r"(?: now| currently| actually| still| officially)?",
        called=r"(?: is|'s)(?: called| named)| (?:called|named)|(?:'s name is)",
        has_new=r"(?:(?:i(?:'ve| have)?(?: just| now)* (?:got|have|get)|i've got|i have|we have|we've got) (?:an?|the) (?:brand )?new"
        r"|(?:i|we)(?:'ve| have)?(?: just)? (?:changed|switched)(?: my| our)?)",
        other_has_new=r" (?:has|has got|got) an? (?:brand )?new",
        lead_in="so|well|ok|okay|hey|hi|yes|no|now|today|finally|actually|also|and|but|btw|fyi|update|news|good news|big"
        " news|quick update|just so you know|by the way|for the record|correction|sorry|heads up|remember|note|please"
        " remember that|remember that|i want you to know that|it's official|(?:as of|from|starting) today|from now on|these days|nowadays|guess"
        " what",
        articles="the|an?",
        joins=r"(?:and|but|so|because)",
        beside=r"\b(?:in my (?:head|mind|dreams?)|came back|for the (?:conference|trip|meeting|holidays?|vacation|visit|event"
        r"|wedding|funeral|course|exam|exams|show|fair)|also|too|as well|besides|second|another|other|part[- ]time|on the side|freelanc\w*|during"
        r"|on weekdays|(?:at|on) (?:the )?weekends?|half|partly|sometimes|temporarily|for now|for the (?:summer|winter"
        r"|week|weekend|month)|for (?:a|one|two|three|four|\d+) (?:days?|weeks?|months?)|until|till|while|work phone"
        r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|remotely from)\b",
        unsure=r"\b(?:if|unless|guess(?! what)|suppose|assum(?:e|ing)|believe|suspect|doubt|possibly|presumably|not sure|unsure|no idea|would|could|might|maybe|perhaps|probably|apparently|supposedly|dreamt|dreamed|dream|"
        r"imagine|pretend\w*|almost|nearly|kidding|joking|joke|says?|said|heard|rumou?r\w*|wish\w*|hop(?:e|es|ing)"
        r"|want\w*|consider\w*|think\w*|plan\w*|will|gonna|going to|used to|as a (?:child|kid|student|boy|girl)|when i was"
        r"|back then|years? ago|in the (?:novel|book|film|movie|game|story|dream)|quote|character)\b",
        stops="in at for to as on of and or but now since with where when because so while which that the a an is was"
        " it i my again as well too from after before near by next last this until till if though although",
        no_objects="fear peace hope style luxury poverty harmony exile denial hiding isolation debt pain silence"
        " limbo paradise town home work school bed nothing hard up fast loudly monday tuesday wednesday thursday friday"
        " saturday sunday january february march april may june july august september october november"
        " december linux windows macos android ios python rust firefox chrome vim neovim emacs",
    ),
    "de": StatementWords(
        rows=r"""
            lives_in is = (?:ich|wir) {a}(?:wohnen?|leben?) {a}in {o}|(?:wohnen?|leben?) (?:ich|wir) {a}in {o} ;; {a}(?:wohnt|lebt) {a}in {o}
            lives_in begins = (?:(?:(?:ich )?bin|bin ich|(?:wir )?sind|sind wir)) {a}{from}(?:zurück )?nach {o} (?:\w+ )?(?:gezogen|umgezogen|zurückgezogen|übergesiedelt) ;; ist {a}{from}(?:zurück )?nach {o} (?:\w+ )?(?:gezogen|umgezogen|zurückgezogen|übergesiedelt)
            lives_in ends = ich (?:wohne|lebe) nicht (?:mehr|länger) in {o}|ich (?:wohne|lebe) in {o} nicht mehr|in {o} (?:wohne|lebe) ich nicht mehr ;; (?:wohnt|lebt) nicht (?:mehr|länger) in {o}
            works_at is = ich arbeite {a}(?:bei|für) {o}|arbeite ich {a}(?:bei|für) {o}|ich arbeite {a}als {gap} (?:bei|für) {o} ;; arbeitet {a}(?:bei|für) {o}|arbeitet {a}als {gap} (?:bei|für) {o}
            works_at begins = (?:ich habe|habe ich) {a}bei {o} (?:\w+ )?angefangen|(?:ich bin|bin ich) {a}{from}(?:zu|zur|zum) {o} gewechselt ;; hat {a}bei {o} (?:\w+ )?angefangen|ist {a}{from}(?:zu|zur|zum) {o} gewechselt
            works_at ends = ich arbeite nicht (?:mehr|länger) (?:bei|für) {o}|ich arbeite (?:bei|für) {o} nicht mehr|(?:bei|für) {o} arbeite ich nicht mehr|ich bin nicht mehr bei {o}|ich habe {a}(?:meinen job |meine stelle |meine arbeit )?bei {o} gekündigt ;; arbeitet nicht (?:mehr|länger) (?:bei|für) {o}|hat {a}(?:seinen job |ihren job )?bei {o} gekündigt
            works_at|studies_at ends = ich habe {a}{o} verlassen{end} ;; hat {a}{o} verlassen{end}
            works_at ends = ich habe {a}(?:meinen job |meine stelle )?gekündigt{any}|ich bin {a}(?:arbeitslos|in rente){any} ;; hat {a}(?:seinen job |ihren job )?gekündigt{any}|ist {a}(?:arbeitslos|in rente){any}
            studies_at is = ich studiere {a}an (?:der |dem )?{o} ;; studiert {a}an (?:der |dem )?{o}
            job is = ich arbeite {a}als {v}|arbeite ich {a}als {v} ;; arbeitet {a}als {v}
            job begins = ich bin {a}(?:zum|zur) {v} (?:befördert|ernannt) worden|ich wurde {a}(?:zum|zur) {v} (?:befördert|ernannt) ;; (?:ist|wurde) {a}(?:zum|zur) {v} (?:befördert|ernannt)
            born_in is = ich (?:bin|wurde) in {o} geboren ;; (?:ist|wurde) in {o} geboren
            birthday is = ich (?:bin|wurde) am {date} geboren ;; (?:ist|wurde) am {date} geboren
            age is = ich bin {a}{n} jahre alt|ich bin {a}{n} geworden ;; ist {a}{n}(?: jahre alt|(?=\s*[.,;!?]|$))|ist {a}{n} geworden
            drives is = ich fahre {a}eine?n? {o} ;; fährt {a}eine?n? {o}
            boss is = ich berichte {a}an {o} ;; berichtet {a}an {o}
            partner is = ich bin {a}mit {o} verheiratet ;; ist {a}mit {o} verheiratet
            phone is = (?:du erreichst|ihr erreicht|man erreicht) mich (?:unter|auf) (?:der )?{phone}
            speaks is = ich spreche {a}{list} ;; spricht {a}{list}
            allergic_to is = ich bin {a}(?:allergisch (?:gegen|auf) {list}|gegen {list} allergisch) ;; ist {a}(?:allergisch (?:gegen|auf) {list}|gegen {list} allergisch)
            allergic_to ends = ich bin nicht mehr (?:allergisch (?:gegen|auf) {list}|gegen {list} allergisch) ;; ist nicht mehr (?:allergisch (?:gegen|auf) {list}|gegen {list} allergisch)
        """,
        adverbs=r"jetzt|nun|inzwischen|mittlerweile|aktuell|derzeit|zurzeit|momentan|weiterhin|immer noch|noch|schon|"
        r"seit \w+(?: \w+){0,2}|wieder|endlich|gerade|kürzlich|neulich|heute|gestern|hier|(?:letzten?|diesen?|letztes|dieses|"
        r"letzter|dieser) (?:woche|monat|jahr)|im (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|"
        r"november|dezember)|vor \w+(?: \w+)?|auch|dort|ab sofort|am \d+\. \w+",
        origin="von {x} ",
        user="der nutzer|die nutzerin|der benutzer|die benutzerin|des nutzers",
        copula=r"(?:(?=:)| ist| sind| lautet| heißt|(?: hat sich)? geändert(?: und ist)?)(?: jetzt| nun| aktuell| ab sofort"
        r"| inzwischen| seit \w+)*",
        called=r" heißt| namens|,? die heißt|,? der heißt",
        has_new=r"(?:ich habe|ich hab|hab|wir haben|habe ich)(?: jetzt| nun| seit \w+)* (?:eine?n?) (?:neuen?|neues|neuer)|(?:ich )?habe? (?:meine?n? )?",
        other_has_new=r" hat(?: jetzt)? eine?n? (?:neuen?|neues)",
        lead_in="also|ja|nein|ok|okay|hallo|hey|übrigens|update|info|jetzt|heute|endlich|nun|zur info|kurzes update|nur"
        " zur info|gute nachrichten|neuigkeiten|und|aber|merk dir|bitte merken|ab (?:heute|jetzt|sofort)",
        articles="der|die|das|dem|den|des|eine?[mnrs]?|ein",
        joins=r"(?:und|aber|weil|denn)",
        beside=r"\b(?:auch|außerdem|zusätzlich|nebenbei|nebenher|zweit\w+|ander\w+|teilzeit|freiberuflich|unter der woche"
        r"|am wochenende|wochenends|manchmal|teilweise|vorübergehend|bis|während|solange|für (?:eine?n?|zwei|drei|\d+)"
        r" (?:tage?|wochen?|monate?)|über den sommer|montags|dienstags|mittwochs|donnerstags|freitags)\b",
        unsure=r"\b(?:wenn|falls|glaube|denke|vermute|schätze|nehme an|möglicherweise|vermutlich|nicht sicher|keine ahnung|würde|könnte|vielleicht|wahrscheinlich|angeblich|möchte|will|wollte|träum\w+|fast|beinahe"
        r"|scherz|witz|sagte?|gehört|hoff\w+|wünsch\w+|überleg\w+|plan\w+|werde|als kind|früher|damals|vor (?:\w+ )?jahren"
        r"|im (?:roman|buch|film|spiel|traum))\b",
        stops="in bei für zu als an am und oder aber jetzt seit mit wo wenn weil der die das ein eine ist war es ich"
        " mein wieder auch von nach vor ab neben nächste letzte diese bis obwohl gezogen umgezogen",
        no_objects="angst frieden scheidung trennung miete untermiete armut luxus sorge hoffnung freude einsamkeit"
        " ruhe stadt haus wg wohnung dorf zentrum innenstadt altbau neubau eigenheim beziehung"
        " partnerschaft regen hitze kälte nacht geld einziger einzige erster erste letzter letzte"
        " verrückter linux windows android python firefox",
    ),
    "es": StatementWords(
        rows=r"""
            lives_in is = (?:yo )?{a}(?:vivo|resido|vivimos) {a}en {o} ;; {a}(?:vive|reside) {a}en {o}
            lives_in begins = (?:yo )?{a}(?:me|nos) (?:he |hemos )?{a}(?:mudé|mudamos|mudado|trasladé|trasladado) {a}{from}a {o} ;; se (?:ha )?{a}(?:mudó|mudado|trasladó|trasladado) {a}{from}a {o}
            lives_in begins = (?:he |hemos )?{a}(?:vuelto|volví) a vivir (?:a|en) {o} ;; (?:ha )?{a}(?:vuelto|volvió) a vivir (?:a|en) {o}
            lives_in ends = ya no vivo en {o} ;; ya no vive en {o}
            works_at is = (?:yo )?{a}trabajo {a}(?:en {unsure}|para ){o}|trabajo {a}(?:como|de) {gap} (?:en {unsure}|para ){o} ;; {a}trabaja {a}(?:en {unsure}|para ){o}|trabaja {a}(?:como|de) {gap} (?:en {unsure}|para ){o}
            works_at begins = (?:yo )?(?:he )?{a}(?:empecé|empezado|comencé|comenzado) {a}(?:a trabajar )?(?:en {unsure}|para ){o} ;; (?:ha )?{a}(?:empezó|empezado|comenzó|comenzado) {a}(?:a trabajar )?(?:en {unsure}|para ){o}
            works_at ends = ya no trabajo (?:en|para) {o}|(?:he )?(?:dejé|dejado) (?:mi|el) (?:trabajo|puesto|empleo) en {o} ;; ya no trabaja (?:en|para) {o}|(?:ha )?(?:dejó|dejado) (?:su|el) (?:trabajo|puesto|empleo) en {o}
            works_at|studies_at ends = (?:he )?(?:dejé|dejado) {o}{end} ;; (?:ha )?(?:dejó|dejado) {o}{end}
            works_at ends = (?:he )?(?:dejé|dejado) (?:mi|el) trabajo{any}|me jubilé{any}|me he jubilado{any} ;; (?:ha )?(?:dejó|dejado) (?:su|el) trabajo{any}|se (?:jubiló|ha jubilado){any}
            studies_at is = estudio en {o} ;; estudia en {o}
            job is = (?:yo )?{a}trabajo {a}(?:como|de) {v} ;; {a}trabaja {a}(?:como|de) {v}
            job begins = me (?:han ascendido|ascendieron) a {v} ;; (?:lo|la) (?:han ascendido|ascendieron) a {v}
            born_in is = nací en {o} ;; nació en {o}
            birthday is = nací el {date} ;; nació el {date}
            drives is = conduzco una? {o} ;; conduce una? {o}
            partner is = estoy casad[oa] con {o} ;; está casad[oa] con {o}
            phone is = (?:me )?(?:puedes|podéis) (?:llamar|localizar)(?:me)? (?:al|en el) {phone}
            age is = tengo {n} años|(?:acabo de cumplir|cumplí|he cumplido) {n} años ;; tiene {n} años
            speaks is = hablo {a}{list} ;; habla {a}{list}
            allergic_to is = soy {a}alérgic[oa] (?:a las? |a los |al |a ){list}|tengo alergia (?:a las? |a los |al |a ){list} ;; es {a}alérgic[oa] (?:a las? |a los |al |a ){list}
            allergic_to ends = ya no soy alérgic[oa] (?:a las? |a los |al |a ){list} ;; ya no es alérgic[oa] (?:a las? |a los |al |a ){list}
        """,
        adverbs="ahora|actualmente|todavía|aún|ya|de nuevo|otra vez|por fin|finalmente|recientemente|hace poco|hoy|ayer|"
        "aquí|de vuelta|también|acabo de|el mes pasado|la semana pasada|este (?:mes|año)|el año pasado",
        origin="(?:de|desde) {x} ",
        user="el usuario|la usuaria",
        copula=r"(?:(?=:)| es| son| se ha convertido en| ha cambiado a| cambió a| ahora es| pasa a ser)(?: ahora| actualmente)?",
        called=r" se llama| llamad[oa]",
        has_new=r"(?:(?:ya |ahora )?tengo|tenemos) (?:una? )(?:nuev[oa])|(?:he )?(?:cambiado|cambié) de",
        other_has_new=r" (?:ya |ahora )?tiene (?:una? )nuev[oa]",
        lead_in="pues|bueno|sí|no|ok|hola|oye|por cierto|ahora|hoy|por fin|actualización|noticia|noticias|buenas noticias"
        "|y|pero|además|para que lo sepas|recuerda que|te cuento|apunta|anota|(?:a partir de|desde) (?:hoy|ahora)",
        articles="el|la|los|las|una?|lo",
        joins=r"(?:y|pero|porque)",
        beside=r"\b(?:también|además|segund[oa]|otr[oa]|a tiempo parcial|media jornada|entre semana|los fines de semana"
        r"|a veces|temporalmente|hasta|mientras|por (?:un|una|dos|tres|\d+) (?:días?|semanas?|mes(?:es)?)|de momento"
        r"|por ahora|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos))\b",
        unsure=r"\b(?:si|creo|supongo|dudo|no sé|a lo mejor|probablemente|posiblemente|no estoy segur[oa]|ojalá|quizás?|tal vez|podría|gustaría|quiero|quería|quisiera|sueñ\w+|soñé|imagin\w+|casi|broma"
        r"|dice|dijo|dicen|parece|espero|pienso|planeo|voy a|vamos a|de niñ[oa]|de pequeñ[oa]|cuando era|antes|hace (?:\w+ )?"
        r"años|en la (?:novela|película)|en el (?:libro|juego))\b",
        stops="en a de para por como y o pero ahora desde con donde cuando porque que el la los las un una es era yo mi"
        " otra vez también hasta cerca si aunque",
        no_objects="paz casa campo ciudad pueblo centro afueras equipo remoto noche día tarde mañana lunes martes"
        " miércoles jueves viernes sábado domingo loco loca familia pareja linux windows python",
    ),
    "fr": StatementWords(
        rows=r"""
            lives_in is = (?:j'|je |on |nous ){a}(?:habite|vis|vit|habitons|vivons|réside) {a}(?:à|en|au|aux|dans) {o} ;; {a}(?:habite|vit|réside) {a}(?:à|en|au|aux|dans) {o}
            lives_in begins = (?:j'ai|on a|nous avons) {a}(?:re)?déménagé {a}{from}(?:à|en|au) {o}|(?:je me suis|on s'est|nous nous sommes) {a}installée?s? {a}(?:à|en|au) {o}|je suis {a}(?:retournée?|revenue?|partie?) vivre (?:à|en|au) {o} ;; a {a}(?:re)?déménagé {a}{from}(?:à|en|au) {o}|s'est {a}installée? {a}(?:à|en|au) {o}
            lives_in ends = (?:je n'habite|je ne vis) plus (?:à|en|au) {o} ;; (?:n'habite|ne vit) plus (?:à|en|au) {o}
            works_at is = je {a}(?:travaille|bosse) {a}(?:chez|pour) {o}|je {a}(?:travaille|bosse) {a}comme {gap} (?:chez|pour) {o} ;; {a}(?:travaille|bosse) {a}(?:chez|pour) {o}
            works_at begins = j'ai {a}commencé {a}(?:à travailler |à bosser |un nouveau (?:travail|boulot|poste) )?chez {o}|je suis {a}(?:passée?|entrée?|arrivée?) {a}chez {o}|j'ai été {a}embauchée? {a}(?:chez|par) {o} ;; a {a}commencé {a}(?:à travailler |à bosser )?chez {o}|est {a}(?:passée?|entrée?) chez {o}|a été {a}embauchée? {a}(?:chez|par) {o}
            works_at ends = je ne (?:travaille|bosse) plus (?:chez|pour) {o}|je ne suis plus chez {o}|j'ai {a}(?:démissionné de|quitté mon (?:travail|poste|boulot|emploi) chez) {o} ;; ne (?:travaille|bosse) plus (?:chez|pour) {o}
            works_at|studies_at ends = j'ai {a}quitté {o}{end} ;; a {a}quitté {o}{end}
            works_at ends = j'ai {a}(?:démissionné|quitté mon (?:travail|poste|boulot|emploi)){any}|je suis à la retraite{any} ;; a {a}(?:démissionné|quitté son (?:travail|poste|boulot|emploi)){any}|est à la retraite{any}
            studies_at is = j'étudie à {o} ;; étudie à {o}
            job is = je {a}travaille {a}comme {v} ;; {a}travaille {a}comme {v}
            job begins = j'ai été {a}(?:promue?|nommée?) {v} ;; a été {a}(?:promue?|nommée?) {v}
            born_in is = je suis née? à {o} ;; est née? à {o}
            birthday is = je suis née? le {date} ;; est née? le {date}
            drives is = je (?:conduis une?|roule {a}en) {o} ;; (?:conduit une?|roule {a}en) {o}
            partner is = je suis mariée? (?:à|avec) {o} ;; est mariée? (?:à|avec) {o}
            phone is = (?:tu peux|vous pouvez) me (?:joindre|appeler) (?:au|sur le) {phone}
            age is = j'ai {a}{n} ans ;; a {a}{n} ans
            speaks is = je parle {a}{list} ;; parle {a}{list}
            allergic_to is = je suis {a}allergique (?:à la |à l'|aux? |à ){list} ;; est {a}allergique (?:à la |à l'|aux? |à ){list}
            allergic_to ends = je ne suis plus allergique (?:à la |à l'|aux? |à ){list} ;; n'est plus allergique (?:à la |à l'|aux? |à ){list}
        """,
        adverbs="maintenant|désormais|actuellement|toujours|encore|enfin|récemment|de nouveau|à nouveau|ici|déjà|depuis"
        r" \w+(?: \w+){0,2}|hier|aujourd'hui|aussi|définitivement|la semaine dernière|le mois dernier|l'année dernière|finalement",
        origin="(?:de |d'){x} ",
        user="l'utilisateur|l'utilisatrice",
        copula=r"(?:(?=\s?:)| est(?: devenue?)?| sont| a changé(?: pour|,? c'est)?| devient|,? c'est)(?: maintenant| désormais| actuellement)?",
        called=r" s'appelle| nommée?| appelée?",
        has_new=r"(?:j'ai|nous avons|on a)(?: maintenant| enfin| désormais)* une? (?:nouveau|nouvelle|nouvel)|j'ai changé de",
        other_has_new=r" a(?: maintenant)? une? nouve(?:au|lle|l)",
        lead_in="alors|bon|oui|non|ok|salut|au fait|maintenant|aujourd'hui|enfin|mise à jour|nouvelle|bonne nouvelle|et|mais"
        "|désormais|ça y est|pour info|du coup|note que|petite mise à jour|(?:à partir d'|dès )(?:aujourd'hui|maintenant)",
        articles="le|la|les|une?|l'|des",
        joins=r"(?:et|mais|car|parce que)",
        beside=r"\b(?:aussi|également|en plus|deuxième|second|seconde|autre|à temps partiel|mi-temps|en semaine|le week-end"
        r"|les week-ends|parfois|temporairement|jusqu'\w+|pendant|pour (?:un|une|deux|trois|\d+) (?:jours?|semaines?|mois)"
        r"|pour l'instant|le (?:lundi|mardi|mercredi|jeudi|vendredi))\b",
        unsure=r"\b(?:si|crois|suppose|doute|probablement|sans doute|pas sûre?|peut-être|pourrais|aimerais|voudrais|veux|voulais|rêv\w+|imagin\w+|presque|blague|dit|disent"
        r"|paraît|espère|pense|vais|allons|enfant|petite?|quand j'étais|avant|autrefois|il y a (?:\w+ )?ans|dans le (?:roman|film"
        r"|livre|jeu))\b",
        stops="à en au aux dans de du des pour chez comme et ou mais maintenant depuis avec où quand parce que le la les"
        " un une est était je mon ma encore aussi jusque près si",
        no_objects="paix ville campagne banlieue maison couple famille colocation équipe télétravail nuit jour fou"
        " folle malade linux windows python",
    ),
    "it": StatementWords(
        rows=r"""
            lives_in is = (?:io )?{a}(?:abito|vivo|risiedo|abitiamo|viviamo) {a}(?:a|ad|in) {o} ;; {a}(?:abita|vive|risiede) {a}(?:a|ad|in) {o}
            lives_in begins = (?:io )?(?:mi sono|ci siamo) {a}(?:trasferit[oaie]|spostat[oaie]) {a}{from}(?:a|ad|in) {o}|sono {a}tornat[oa] a vivere (?:a|ad|in) {o} ;; si è {a}(?:trasferit[oa]|spostat[oa]) {a}{from}(?:a|ad|in) {o}|è {a}tornat[oa] a vivere (?:a|ad|in) {o}
            lives_in ends = non (?:abito|vivo) più (?:a|ad|in) {o} ;; non (?:abita|vive) più (?:a|ad|in) {o}
            works_at is = (?:io )?{a}lavoro {a}(?:per |presso |(?:da|in|alla|al|nella) {unsure}){o}|lavoro {a}come {gap} (?:per |presso |(?:da|in|alla) {unsure}){o} ;; {a}lavora {a}(?:per |presso |(?:da|in|alla|al|nella) {unsure}){o}
            works_at begins = ho {a}(?:iniziato|cominciato) {a}(?:a lavorare )?(?:per |presso |(?:da|in|alla) {unsure}){o}|sono {a}passat[oa] (?:a|in|alla) {unsure}{o}|sono stat[oa] assunt[oa] (?:da |(?:in|alla) {unsure}){o} ;; ha {a}(?:iniziato|cominciato) {a}(?:a lavorare )?(?:per |presso |(?:da|in|alla) {unsure}){o}
            works_at ends = non lavoro più (?:per|da|presso|in|alla) {o}|ho {a}lasciato il (?:mio )?(?:lavoro|posto) (?:da|in|alla|presso) {o}|mi sono licenziat[oa] da {o} ;; non lavora più (?:per|da|presso|in|alla) {o}
            works_at|studies_at ends = ho {a}lasciato {o}{end} ;; ha {a}lasciato {o}{end}
            works_at ends = ho lasciato il (?:mio )?lavoro{any}|mi sono licenziat[oa]{any}|sono in pensione{any} ;; ha lasciato il (?:suo )?lavoro{any}|si è licenziat[oa]{any}|è in pensione{any}
            studies_at is = studio (?:a|all'|alla|al) {o} ;; studia (?:a|all'|alla|al) {o}
            job is = {a}lavoro {a}come {v}|{a}faccio (?:il |la |l'){v} ;; {a}lavora {a}come {v}|{a}fa (?:il |la |l'){v}
            job begins = sono stat[oa] promoss[oa] (?:a )?{v} ;; è stat[oa] promoss[oa] (?:a )?{v}
            born_in is = sono nat[oa] a {o} ;; è nat[oa] a {o}
            birthday is = sono nat[oa] il {date} ;; è nat[oa] il {date}
            drives is = guido una? {o} ;; guida una? {o}
            partner is = sono sposat[oa] con {o} ;; è sposat[oa] con {o}
            phone is = (?:mi )?(?:puoi|potete) (?:chiamar|contattar)(?:mi|e) (?:al|allo) {phone}
            age is = ho {a}{n} anni|ho compiuto {n} anni ;; ha {a}{n} anni
            speaks is = parlo {a}{list} ;; parla {a}{list}
            allergic_to is = sono {a}allergic[oa] (?:alle |agli |ai |alla |all'|al |a ){list} ;; è {a}allergic[oa] (?:alle |agli |ai |alla |all'|al |a ){list}
            allergic_to ends = non sono più allergic[oa] (?:alle |agli |ai |alla |all'|al |a ){list} ;; non è più allergic[oa] (?:alle |agli |ai |alla |all'|al |a ){list}
        """,
        adverbs="adesso|ora|attualmente|ancora|di nuovo|finalmente|recentemente|da poco|qui|già|appena|ormai|ieri|oggi|anche"
        "|la settimana scorsa|il mese scorso|l'anno scorso|da (?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto"
        "|settembre|ottobre|novembre|dicembre)",
        origin="da {x} ",
        user="l'utente",
        copula=r"(?:(?=:)| è(?: diventat[oa])?| sono| è cambiat[oa](?: in)?| ora è| adesso è| diventa)(?: ora| adesso| attualmente)?",
        called=r" si chiama| di nome| chiamat[oa]",
        has_new=r"(?:(?:adesso |ora )?ho|abbiamo) (?:una? |un')(?:nuov[oa])|ho cambiato(?: il| la)?",
        other_has_new=r" ha(?: ora| adesso)? una? nuov[oa]",
        lead_in="allora|beh|sì|no|ok|ciao|comunque|a proposito|adesso|ora|oggi|finalmente|aggiornamento|novità|buone notizie"
        "|e|ma|per la cronaca|ricorda che|segna|piccolo aggiornamento|da (?:oggi|ora)(?: in poi)?",
        articles="il|lo|la|gli|le|i|una?|l'|uno",
        joins=r"(?:e|ma|perché)",
        beside=r"\b(?:anche|inoltre|second[oa]|altr[oa]|part[- ]time|durante la settimana|nei fine settimana|nel weekend|a volte"
        r"|temporaneamente|fino|mentre|per (?:un|una|due|tre|\d+) (?:giorn[oi]|settiman[ae]|mes[ei])|per ora|il (?:lunedì"
        r"|martedì|mercoledì|giovedì|venerdì))\b",
        unsure=r"\b(?:se|credo|suppongo|dubito|non so|probabilmente|non sono sicur[oa]|forse|magari|potrei|vorrei|voglio|volevo|sogn\w+|immagin\w+|quasi|scherz\w+|dice|detto|dicono|pare"
        r"|sembra|spero|penso|pensando|andrò|da bambin[oa]|da piccol[oa]|quando ero|prima|(?:\w+ )?anni fa|nel (?:romanzo|film|libro"
        r"|gioco))\b",
        stops="a ad in di da per come e o ma adesso ora con dove quando perché che il lo la gli le i un una è era io mio"
        " ancora anche fino vicino se",
        no_objects="pace casa centro campagna città paese ufficio famiglia periferia squadra notte giorno matto matta"
        " pazzo pazza linux windows python",
    ),
}

# Who was named before.
PRONOUNS: Mapping[str, str] = {
    "en": "he|she|they",
    "de": "er|sie",
    "es": "él|ella",
    "fr": "il|elle",
    "it": "lui|lei",
}
# "My favourite … is …": {art} stands for articles, {v} for a word or two.
FAVOURITES: Mapping[str, str] = {
    "en": r"my (?:new )?favou?rite (?P<label>\p{L}+(?: \p{L}+)?)(?: is|'s| has become) (?:now )?{art}?{v}",
    "de": r"meine?r? lieblings-?(?P<label>\p{L}+) ist (?:jetzt )?{art}?{v}",
    "es": r"mi (?P<label>\p{L}+) (?:favorit[oa]|preferid[oa]) (?:ahora )?(?:es|se ha convertido en) (?:ahora )?{art}?{v}",
    "fr": r"m(?:on|a) (?P<label>\p{L}+) préférée? (?:est|c'est)(?: devenue?)?(?: maintenant| désormais)? {art}?{v}",
    "it": r"(?:il mio|la mia) (?P<label>\p{L}+) preferit[oa] (?:ora )?è (?:ora |diventat[oa] )?{art}?{v}",
}
# Who speaks, in any of the languages: a clause that begins so has a subject of its own.
SPEAKER_WORDS = r"i|i'm|i've|we|we're|we've|my|our|ich|wir|mein\w*|unser\w*|mi|mis|yo|me|je|j'|mon|ma|mes|nous|on|io"
# From what has changed to what it is now.
LEADS_ON = (
    r"it's|it is|now it's|i see|i go to|ahora es|jetzt ist (?:es|sie)|maintenant c'est|adesso è|ora è|adesso vado da\w*"
    r"|vado da\w*|ahora voy (?:al?|con)|je vais (?:maintenant )?chez|ich gehe (?:jetzt )?zu(?:[mr])?|he's|she's"
    r"|his name is|her name is|called|named|sie heißt|er heißt|es ist|se llama|es|il s'appelle|elle s'appelle|c'est"
    r"|si chiama|è|namens"
)
# Before a time or a place that a sentence begins with.
BEFORE_TIMES = (
    r"since|as of|starting|from|seit|ab|desde|a partir de|depuis|à partir de|dal?|da|in|im|en|last|letzten?|el|le|two"
    r"|after|nach|después de|après|dopo"
)
# For a while only, in any of the languages: a boss for this week is none.
PASSING = (
    r"today|tonight|this (?:week|morning|afternoon|evening|month|summer|winter)|tomorrow|heute|morgen|diese woche|hoy"
    r"|esta semana|mañana|aujourd'hui|cette semaine|demain|oggi|questa settimana|domani|in (?:the )?(?:summer|winter|spring"
    r"|autumn|fall)|im (?:sommer|winter|frühling|herbst)|en (?:verano|invierno|otoño|primavera|été|hiver)|l'(?:été|hiver)"
    r"|d'(?:estate|inverno)|not|in my (?:head|mind|dreams?)|as a volunteer|came back|for the \w+"
)
# With one of these before it, what else is for a while begins what stays.
FROM = r"from|as of|starting|since|ab|seit|desde|a partir de|dès|da"
# One or the other: nobody knows which.
ALTERNATIVES: Mapping[str, str] = {
    "en": "or|either",
    "de": "oder|entweder|beziehungsweise|bzw",
    "es": "o|u|o bien",
    "fr": "ou|soit",
    "it": "o|oppure",
}
# A text that takes back what it says, or is not meant.
NOT_MEANT = (
    r"(?<!\p{L})(?:jk|just kidding|kidding|lol|rofl|(?:ha){2,}h?|was a lie|no wait|i mean|ich meine|spaß|scherz|broma|quiero decir"
    r"|blague|je rigole|je veux dire|scherzo|voglio dire)(?!\p{L})|[😂🤣😜😝😉🙃]"
)
# With these a life is over, or a thing: who it was is no news.
OVER = r"(?<!\p{L})(?:died|passed away|is dead|gestorben|tot|murió|muerto|ha muerto|mort|morte|décédée?|morto|morta)(?!\p{L})"
# By these a short statement shows its language.
SIGNS: Mapping[str, str] = {
    "en": "i|i'm|i've|my|our|the user|lives|works|moved|drives|is|was|a|the|has|started|switched|joined|left|quit"
    "|retired|resigned|turned|became|speaks|studies|reports",
    "de": r"ich|mein\w*|unser\w*|wohnt|arbeitet|der nutzer|hat|spricht|studiert|fährt",
    "es": "mi|mis|yo|vivo|vive|trabajo|trabaja|me|hablo|nací|soy|es|dejó|habla|estudia|nació|se|empecé|dejé|estudio|he \\p{L}+[ai]do"
    "|nuestr[oa]",
    "fr": "je|mon|ma|mes|notre|tu peux|habite|travaille|j'(?:ai|habite)|a (?:quitté|déménagé|commencé)|s'est|parle",
    "it": "mio|mia|abito|abita|vivo|vive|lavoro|lavora|sono|parlo|ho|ha|si|parla|studia|guida|puoi|potete",
}
