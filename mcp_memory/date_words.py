"""The words of relative dates, per language: pure data for `date_rules`.

A rule is a line "KIND OFFSET = TEMPLATE; TEMPLATE". A template is a row of words; "a|b" stands for either, a
word with "?" at its end may be missing, and {n}, {unit}, {weekday}, {month} and {day} stand for the words of
the tables. "own" before a kind: the words mean something else in another language, so the sentence must be in
this one; "likely": it must not be in another.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """What one language calls the parts of a date, and what tells its past from its future.

    >>> LANGUAGES["en"].units[0]
    'day|days'
    """

    rules: str
    weekdays: str
    months: str
    numbers: str
    units: tuple[str, str, str, str]
    # Between day, month and year of a written date: "13 de marzo de 2026".
    of: str
    past: str
    future: str
    # Reported speech, habits, conditions: the tense of the clause does not place the date.
    unclear: str
    # Clauses begin after these.
    joins: str
    not_before: str = r"(?!)"
    not_after: str = r"(?!)"
    # A count of days that something takes is no point in time.
    duration: str = r"(?!)"
    # In these a clause without a sign of the future may as well be past.
    needs_future: bool = False
    spaced: bool = True
    # Days of a month that are written as words, from the first on.
    ordinals: str = ""


# In English these are other words unless they are capitalised.
CAPITALISED_ONLY = frozenset({"may", "march", "mar", "august"})

_EN_PAST = """was were had did went came saw met took got gave made ate bought brought built began broke caught chose
drank drove fell felt flew forgot found grew heard held hurt kept knew lent lost paid ran rang rode rose sang
sat sent shot slept spent spoke stood stole swam taught thought threw understood won wore wrote woke left ago
fought dealt dug drew led lit shook sold sought stuck struck swore tore wound yesterday"""

LANGUAGES = {
    "en": Language(
        rules="""
            day 0 = today; tonight; this morning|afternoon|evening
            day -1 = yesterday morning|afternoon|evening?; last night
            day 1 = tomorrow morning|afternoon|evening|night?
            day -2 = the? day before yesterday
            day 2 = the? day after tomorrow
            n -1 = {n} {unit} ago
            n 1 = in exactly? {n} {unit}; exactly? {n} {unit} from now|today
            from 0 = in? {n} week|weeks from {weekday}
            open 0 = {n} {unit} on {weekday}; on? {weekday} week; today|tomorrow week
            week -1 = last week
            week 0 = this week
            week 1 = next week
            weekend -1 = last weekend
            weekend 0 = this weekend
            weekend 1 = next weekend
            month -1 = last month
            month 0 = this month
            month 1 = next month
            year -1 = last year
            year 0 = this year
            year 1 = next year
            last 0 = last {weekday}
            this 0 = this {weekday}
            next 0 = next {weekday}
            coming 0 = this? coming {weekday}
            bare 0 = on {weekday}
            date 0 = on? the? {day} of? {month}; on? {month} the? {day}
            in 0 = in|until {month}
            since 0 = since {month}
            since_day 0 = since this? {weekday}
        """,
        weekdays="monday tuesday wednesday thursday friday saturday sunday",
        months="january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sep|sept "
        "october|oct november|nov december|dec",
        numbers="one|a|an two three four five six seven eight nine ten eleven twelve",
        units=("day|days", "week|weeks", "month|months", "year|years"),
        ordinals="first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        of="of",
        past=rf"\b(?:{'|'.join(_EN_PAST.split())}|have been|has been|(?!need|bed|red|feed|seed|speed|wed|indeed|shed"
        r"|hundred|united|fred|ted|ned|led|weed|embed|exceed|proceed|succeed|breed)\w{2,}ed)\b",
        future=r"\b(?:will|shall|won[’']t|going to|plans?|must|should|let[’']s|tomorrow|next|upcoming|need to"
        r"|wants? to|am|is|are)\b|[’'](?:ll|m|re)\b",
        unclear=r"\b(?:born|said|says|told|asked|promised|agreed|decided|planned|wanted|scheduled|booked|invited"
        r"|expected"
        r"|hoped|supposed|due|would|could|might|if|every|each|always|usually|often|sometimes|never|used to|arranged"
        r"|reserved|postponed|moved to|rescheduled|read|put|set|let|cut|reminded|confirmed|announced|assigned)\b",
        joins=r"\b(?:and|but|so|because|while|that|which)\b",
        not_before=r"\b(?:the|every|each|a|my|your|our|their) $",
        not_after=r"(?<=since \w+) (?:the )?\d"
        r"| (?:of|or|and (?:a|the|one|\d)|mornings|evenings|nights)\b|(?<=day) (?:to|through)\b"
        r"|(?<=ago|days|weeks|months|years) (?:before|from|after|today|yesterday|tomorrow|on)\b|[-–]\w",
        duration=r"\b(?:can|could|takes?|took|done|finish\w*|learn\w*|times?|every|per|each|first time|once|twice)\b",
    ),
    "de": Language(
        rules="""
            day 0 = heute morgen|früh|nachmittag|abend|nacht?
            day -1 = gestern morgen|früh|nachmittag|abend|nacht?
            likely day 1 = morgen früh|nachmittag|abend|nacht?
            day -2 = vorgestern
            day 2 = übermorgen
            n -1 = vor {n} {unit}
            n 1 = in genau? {n} {unit}
            open 0 = am? {weekday} in {n} {unit}
            week -1 = letzte|letzter|letzten|vergangene|vergangener|vergangenen|vorige|voriger woche
            week 0 = diese|dieser woche
            week 1 = nächste|nächster|nächsten|kommende|kommender|kommenden woche
            weekend -1 = letztes|letzten|vergangenes|vergangenen wochenende
            weekend 0 = dieses|diesem wochenende
            weekend 0 = kommendes|kommenden wochenende
            month -1 = letzten|letzter|vergangenen|vorigen monat
            month 0 = diesen|diesem monat
            month 1 = nächsten|nächster|kommenden monat
            year -1 = letztes|letzten|vergangenes|vergangenen|voriges jahr
            year 0 = dieses|diesem jahr
            year 1 = nächstes|nächsten|kommendes|kommenden jahr
            last 0 = letzten|vergangenen {weekday}
            this 0 = diesen {weekday}
            agree 0 = nächsten {weekday}
            coming 0 = kommenden {weekday}
            bare 0 = am {weekday}
            date 0 = am|den|dem? {day} {month}
            in 0 = im {month}
            since 0 = seit {month}
            since_day 0 = seit diesem? {weekday}
        """,
        weekdays="montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
        months="januar|jänner februar märz april mai juni juli august september oktober november dezember",
        numbers="ein|eine|einer|einem|einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        units=("tag|tage|tagen", "woche|wochen", "monat|monate|monaten", "jahr|jahre|jahren"),
        ordinals="ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften",
        of="des",
        past=r"\b(?:war|waren|warst|hatte|hatten|wurde|wurden|ging|gingen|kam|kamen|sah|sahen|traf|trafen|fuhr|fuhren"
        r"|flog|flogen|blieb|gab|fand|begann|rief|schrieb|sprach|nahm|gestern|gewesen|machte|kaufte|besuchte)\b"
        r"|\b(?:habe|hast|hat|haben|habt|bin|bist|ist|sind|seid)\b.*\b(?:\w*ge\w+(?:t|en)|(?:be|ver|er|zer|ent)\w+"
        r"(?:t|en)|\w+iert)\W*$",
        future=r"\b(?:wird|werde|werden|wirst|will|wollen|muss|müssen|soll|möchte|morgen|nächste\w*)\b",
        unclear=r"\b(?:geboren|sagte|gesagt|meinte|versprach|versprochen|wollte|sollte|würde|könnte|geplant"
        r"|gebucht|reserviert"
        r"|eingeladen|vereinbart|verschoben|geschlossen|geöffnet|wenn|falls|jeden|jede|immer|meistens|oft|manchmal)\b",
        joins=r"\b(?:und|aber|denn|weil|dass|während)\b",
        not_before=r"\b(?:guten|jeden|jeder|jede|tag|woch|abend|wie|zu) $",
        not_after=r" (?:des|bis|oder|und (?:ein|\d))\b|(?<=woche) (?:vor|nach|von|im)\b|[-–]\w",
        duration=r"\b(?:kann|können|dauert|geschafft|fertig|lern\w*|pro|mal)\b",
    ),
    "es": Language(
        rules="""
            day 0 = hoy; esta noche|mañana|tarde
            day -1 = ayer; anoche; ayer por la mañana|tarde|noche
            day 1 = mañana; mañana por la mañana|tarde|noche
            day -2 = anteayer; antes de ayer; antier
            day 2 = pasado mañana
            n -1 = hace {n} {unit}; {n} {unit} atrás
            n 1 = dentro de exactamente? {n} {unit}; en {n} {unit}
            week -1 = la? semana pasada; la pasada semana
            week 0 = esta semana
            week 1 = la? semana que viene; la? próxima semana; la? semana próxima
            weekend -1 = el? fin de semana pasado
            weekend 0 = este fin de semana
            month -1 = el? mes pasado
            month 0 = este mes
            month 1 = el? mes que viene; el? próximo mes; el? mes próximo
            year -1 = el? año pasado
            year 0 = este año
            year 1 = el? año que viene; el? próximo año; el? año próximo
            last 0 = el? {weekday} pasado; el pasado {weekday}
            this 0 = este {weekday}
            agree 0 = el? próximo {weekday}; el? {weekday} que viene; el? {weekday} próximo
            bare 0 = el {weekday}
            date 0 = el? {day} de {month}
            in 0 = en {month}; hasta {month}
            since 0 = desde {month}
            since_day 0 = desde el|este? {weekday}
        """,
        weekdays="lunes martes miércoles|miercoles jueves viernes sábado|sabado domingo",
        months="enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
        numbers="un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
        units=("día|días|dia|dias", "semana|semanas", "mes|meses", "año|años"),
        ordinals="primero",
        of="de|del",
        past=r"\b(?:fue|fui|fuimos|fueron|era|eran|estaba|estuve|estuvo|estuvimos|tuve|tuvo|tuvimos|hice|hizo|hicimos"
        r"|dije|vi|vio|vimos|vino|vine|puse|puso|pude|pudo|di|dio|había|ayer|(?:he|has|ha|hemos|han)"
        r" \w+(?:ado|ido|to|cho)"
        r"|\w+(?:aron|ieron|aban|aba|ábamos)|\w{2,}(?:ó|(?<![aei]r)é|í)(?<!aquí|allí|así|café|qué|también"
        r"|sí|comité|bebé))\b",
        future=r"\b(?:voy|vas|va|vamos|van|mañana|próxim[oa]|quiero|tengo que|\w+(?:aré|eré|iré|ará|erá|irá|aremos"
        r"|eremos|iremos|arán|erán|irán))\b",
        unclear=r"\b(?:nac[ií]\w*|dijo|dijeron|prometió|quería|debía|podría|iba|si|cada|siempre|suele|suelo"
        r"|reservó|reservé"
        r"|quedé|quedamos|\w+ía(?<!día|todavía)|\w+íamos|\w+[aei]ré)\b",
        joins=r"\b(?:y|e|pero|porque|que|mientras)\b",
        not_before=r"\b(?:la|una|el|cada|esa|buena|de la|todos los|media|del) $",
        not_after=r" (?:en día|de cada|siguiente|santo|o|(?:a|y) (?:lunes|martes|miércoles|jueves|viernes|sábado"
        r"|domingo))\b|[-–]\w",
        duration=r"\b(?:puede|puedo|se|tarda|tardo|veces|vez|por|\w+r)\b",
    ),
    "fr": Language(
        rules="""
            day 0 = aujourd['’]hui; ce matin|soir; cet après-midi
            own day -1 = hier soir|matin|après-midi?
            day 1 = demain soir|matin|après-midi?
            day -2 = avant-hier
            day 2 = après-demain
            n -1 = il y a {n} {unit}
            n 1 = dans exactement? {n} {unit}
            week -1 = la? semaine dernière; la? semaine passée
            week 0 = cette semaine
            week 1 = la? semaine prochaine
            weekend -1 = le? week-end|weekend dernier
            weekend 0 = ce week-end|weekend
            month -1 = le? mois dernier
            month 0 = ce mois-ci
            month 1 = le? mois prochain
            year -1 = l['’]année|l['’]an dernière|dernier
            year 0 = cette année
            year 1 = l['’]année|l['’]an prochaine|prochain
            last 0 = {weekday} dernier
            this 0 = ce {weekday}
            agree 0 = {weekday} prochain
            bare 0 = {weekday}
            date 0 = le? {day} {month}
            in 0 = en {month}; jusqu['’]en {month}
            since 0 = depuis {month}
            since_day 0 = depuis ce? {weekday}
            open 0 = {weekday} en huit|quinze
        """,
        weekdays="lundi mardi mercredi jeudi vendredi samedi dimanche",
        months="janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre"
        " décembre|decembre",
        numbers="un|une deux trois quatre cinq six sept huit neuf dix onze douze",
        units=("jour|jours", "semaine|semaines", "mois", "an|ans|année|années"),
        ordinals="premier",
        of="de",
        past=r"\b(?:étais|était|étaient|étions|avais|avait|avaient|hier|(?:ai|as|a|avons|avez|ont|suis|es|est"
        r"|sommes|êtes"
        r"|sont) (?:pas |tous |toutes |bien |déjà |été )?\w+(?:é|ée|és|ées|u|ue|us|i|is|it|ert))\b",
        future=r"\b(?:vais|vas|va|allons|allez|vont|demain|prochaine?|dois|veux|\w+(?:rai|ras|ra|rons|rez|ront))\b",
        unclear=r"\b(?:née?|dit|promis|voulais|voulait|devait|pourrait|serait|si|chaque|toujours|souvent|tous"
        r"|prévue?|réservé"
        r"|invité|décidé|\w+rait)\b",
        joins=r"\b(?:et|mais|car|parce|que|qui|donc)\b",
        not_before=r"\b(?:le|les|du|au|un|une|des|chaque|de|tous|par|d[’']ici) $|[-–]$",
        not_after=r" (?:saint|noir|ou|(?:à|au) \w+di|au dimanche|à dimanche)\b|(?<=jours?|semaines?|mois|ans?|années?)"
        r" (?:de|dans|par|pour|où)\b|(?<=jours?|semaines?|mois|ans?|années?) d[’']|[-–]\w",
        duration=r"\b(?:peut|faut|fois)\b",
    ),
    "it": Language(
        rules="""
            day 0 = oggi; stamattina; stasera; questa mattina|sera; questo pomeriggio
            day -1 = ieri sera|mattina|pomeriggio?
            day 1 = domani sera|mattina|pomeriggio?
            day -2 = l['’]altro ieri; ieri l['’]altro; altroieri
            day 2 = dopodomani
            n -1 = {n} {unit} fa
            n 1 = tra|fra {n} {unit}
            week -1 = la? settimana scorsa; la? scorsa settimana
            week 0 = questa settimana
            week 1 = la? settimana prossima; la? prossima settimana
            weekend -1 = il? weekend scorso; lo scorso weekend; il? fine settimana scorso
            weekend 0 = questo weekend; questo fine settimana
            month -1 = il? mese scorso; lo? scorso mese
            month 0 = questo mese
            month 1 = il? mese prossimo; il? prossimo mese
            year -1 = l['’]anno scorso; lo? scorso anno
            year 0 = quest['’]anno
            year 1 = l['’]anno prossimo; il? prossimo anno
            last 0 = {weekday} scorso|scorsa; lo|la? scorso|scorsa {weekday}
            this 0 = questo|questa {weekday}
            agree 0 = {weekday} prossimo|prossima; il|la? prossimo|prossima {weekday}
            bare 0 = {weekday}
            date 0 = il? {day} {month}
            in 0 = a|in {month}
            since 0 = da {month}
        """,
        weekdays="lunedì martedì mercoledì giovedì venerdì sabato domenica",
        months="gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        numbers="un|una|uno due tre quattro cinque sei sette otto nove dieci undici dodici",
        units=("giorno|giorni", "settimana|settimane", "mese|mesi", "anno|anni"),
        ordinals="primo",
        of="di|del",
        past=r"\b(?:ero|era|erano|eravamo|ieri|fu|(?:ho|hai|ha|abbiamo|avete|hanno|sono|sei|è|siamo|siete|l[’']ho)"
        r" (?:già |appena )?\w+(?:[aiu]t[oaei]|tt[oaei]|s[oaei]|rt[oaei])|\w+(?:avo|avamo|avano|evo|evamo|evano))\b",
        future=r"\b(?:domani|devo|voglio|prossim[oa]|\w+(?:rò|rai|rà|remo|rete|ranno))\b",
        unclear=r"\b(?:nat[oa]|detto|promesso|voleva|doveva|potrebbe|se|ogni|sempre|spesso|previst[oa]|prenotato"
        r"|invitato"
        r"|deciso|fissato|\w+rebbe)\b",
        joins=r"\b(?:e|ma|perché|che|mentre)\b",
        not_before=r"\b(?:il|la|ogni|di|del|della|dal|dalla|al|alla|un|una|i|le|tutti i) $|[-–]$",
        not_after=r" (?:santo|nero|o|a (?:\w+dì|sabato|domenica))\b|[-–]\w",
    ),
    "pt": Language(
        rules="""
            day 0 = hoje; hoje de|à manhã|tarde|noite; esta|nesta manhã|noite|tarde
            day -1 = ontem; ontem de|à manhã|tarde|noite
            day 1 = amanhã; amanhã de|à manhã|tarde|noite
            day -2 = anteontem
            day 2 = depois de amanhã
            n -1 = há {n} {unit} atrás?; {n} {unit} atrás
            n 1 = daqui a {n} {unit}; em {n} {unit}
            week -1 = a|na|da? semana passada
            week 0 = esta|nesta|essa semana
            week 1 = a|na? semana que vem; a|na? próxima semana
            weekend -1 = o|no? fim de semana passado
            weekend 0 = este|neste fim de semana
            month -1 = o|no|do? mês passado
            month 0 = este|neste mês
            month 1 = o|no? mês que vem; o|no? próximo mês
            year -1 = o|no|do? ano passado
            year 0 = este|neste ano
            year 1 = o|no? ano que vem; o|no? próximo ano
            last 0 = a|na|o|no? {weekday} passada|passado
            this 0 = esta|nesta|este|neste {weekday}
            agree 0 = a|na|o|no? próxima|próximo {weekday}; a|na|o|no? {weekday} que vem
            bare 0 = na segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira; no sábado|domingo
            date 0 = em|no|o|a? dia? {day} de {month}
            in 0 = em {month}; até {month}
            since 0 = desde {month}
            since_day 0 = desde a|o? {weekday}
        """,
        weekdays="segunda|segunda-feira terça|terça-feira quarta|quarta-feira quinta|quinta-feira sexta|sexta-feira "
        "sábado domingo",
        months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        numbers="um|uma dois|duas três|tres quatro cinco seis sete oito nove dez onze doze",
        units=("dia|dias", "semana|semanas", "mês|meses", "ano|anos"),
        ordinals="primeiro",
        of="de",
        past=r"\b(?:fui|foi|fomos|foram|era|eram|estava|estive|esteve|tive|teve|tivemos|fiz|fez|fizemos|vi|viu"
        r"|vimos|veio"
        r"|vim|pude|pôde|dei|deu|ontem|(?!sou|vou|dou|estou|ou|sei|hei|rei|lei|\w+[aei]rei\b)\w+(?:ei|ou|aram|eram"
        r"|iram|ava|avam|eu|iu)(?<!meu|seu|teu|europeu|museu|eu))\b",
        future=r"\b(?:vou|vais|vai|vamos|vão|amanhã|quero|preciso|tenho|próxim[oa]|\w+(?:arei|erei|irei|ará|erá"
        r"|irá))\b",
        unclear=r"\b(?:nasc\w+|disse|prometeu|queria|devia|poderia|ia|se|cada|sempre|costum\w+|toda|todo|marcou"
        r"|marquei|reservei"
        r"|reservou|combin\w+|\w+ria)\b",
        joins=r"\b(?:e|mas|porque|que|enquanto)\b",
        not_before=r"\b(?:cada|toda|todo) $",
        not_after=r" (?:em dia|seguinte|santa|ou|vez|parte|feira|a (?:segunda|terça|quarta|quinta|sexta|sábado"
        r"|domingo))\b"
        r"|(?<=dias?|semanas?|mês|meses|anos?) (?:na|no|por)\b|[-–]\w",
        duration=r"\b(?:pode|posso|leva|vezes|vez|\w+r)\b",
    ),
    "ru": Language(
        rules="""
            day 0 = сегодня утром|днём|днем|вечером|ночью?
            day -1 = вчера утром|днём|днем|вечером|ночью?
            day 1 = завтра утром|днём|днем|вечером|ночью?
            day -2 = позавчера
            day 2 = послезавтра
            n -1 = {n} {unit} назад; {n} {unit} тому назад
            n 1 = через {n} {unit}
            weeks -1 = неделю назад
            months -1 = месяц назад
            years -1 = год назад
            weeks 1 = через неделю
            months 1 = через месяц
            years 1 = через год
            week -1 = на прошлой неделе; прошлая|прошлой|прошлую неделя|неделе|неделю|недели
            week 0 = на этой неделе
            week 1 = на следующей|будущей неделе
            weekend -1 = в? прошлые выходные
            weekend 0 = в? эти выходные
            month -1 = в прошлом месяце
            month 0 = в этом месяце
            month 1 = в следующем|будущем месяце
            year -1 = в прошлом году
            year 0 = в этом году
            year 1 = в следующем|будущем году
            last 0 = в|во? прошлый|прошлую|прошлое {weekday}
            this 0 = в|во? этот|эту|это {weekday}
            next 0 = в|во? следующий|следующую|следующее {weekday}
            coming 0 = в|во? ближайший|ближайшую|ближайшее {weekday}
            bare 0 = в|во {weekday}
            date 0 = {day} {month}
            in 0 = в январе|феврале|марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре
            since 0 = с {month}
        """,
        weekdays="понедельник вторник среду четверг пятницу субботу воскресенье",
        months="января|январе февраля|феврале марта|марте апреля|апреле мая|мае июня|июне июля|июле августа|августе "
        "сентября|сентябре октября|октябре ноября|ноябре декабря|декабре",
        numbers="один|одну|одна два|две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
        units=("день|дня|дней", "неделю|недели|недель", "месяц|месяца|месяцев", "год|года|лет"),
        ordinals="первого второго третьего четвёртого пятого шестого седьмого восьмого девятого десятого",
        of="года",
        past=r"\b(?:вчера|(?!если|или|дела|недели|школа|цели|сила|модели|отдел|раздел|предел|начала\b|дели|мысли|стол"
        r"|футбол|угол|зал\b|была б)\w{2,}[аяиыуеёо]л(?:а|о|и)?(?:ся|сь)?|был[аои]?|ш[её]л|шл[аи]|пришл[аи]|ушл[аи])\b",
        future=r"\b(?:буду|будет|будем|будут|завтра|надо|нужно|хочу|приду|приед\w+|пойд\w+|поед\w+|встречу|увижу"
        r"|увидимся)\b",
        unclear=r"\b(?:родил\w+|сказал[аи]?|обещал[аи]?|хотел[аи]?|должн\w+|бы|если|кажд\w+|всегда|обычно|часто"
        r"|договорил\w+"
        r"|решил[аи]?|заброниров\w+|пригласил\w*)\b",
        joins=r"\b(?:и|но|а|что|который|потому)\b",
        not_before=r"\b(?:каждый|каждую|каждое|полтора|с|и) $",
        not_after=r" (?:после|до|или|и (?:один|\d))\b|[-–]\w",
    ),
    "zh": Language(
        rules="""
            day 0 = 今天|今日|今晚|今早|今晨
            day -1 = 昨天|昨日|昨晚|昨夜
            day 1 = 明天|明日|明晚|明早
            day -2 = 前天
            day 2 = 后天|後天
            day -3 = 大前天
            day 3 = 大后天|大後天
            n -1 = {n} {unit} 以|之? 前
            n 1 = {n} {unit} 以|之? 后|後
            week -1 = 上 个|個? 周|週|星期|礼拜
            week 0 = 这|這|本 个|個? 周|週|星期|礼拜
            week 1 = 下 个|個? 周|週|星期|礼拜
            weekend -1 = 上 个|個? 周末|週末
            weekend 0 = 这|這|本 个|個? 周末|週末
            weekend 1 = 下 个|個? 周末|週末
            month -1 = 上 个|個? 月
            month 0 = 这 个 月; 這 個 月; 本 月
            month 1 = 下 个|個? 月
            year -1 = 去年
            year 0 = 今年
            year 1 = 明年
            year -2 = 前年
            year 2 = 后年|後年
            weekday -1 = 上 个|個? 周|週|星期|礼拜 {weekday}
            weekday 0 = 这|這|本 个|個? 周|週|星期|礼拜 {weekday}
            weekday 1 = 下 个|個? 周|週|星期|礼拜 {weekday}
            bare 0 = 周|週|星期|礼拜 {weekday}
            date 0 = 在|到|从? {month} {day} 日|号|號
            in 0 = 在|到 {month} 份?
            since 0 = 自|从|從 {month} 份?
        """,
        weekdays="一 二 三 四 五 六 日|天",
        months="1月|一月 2月|二月 3月|三月 4月|四月 5月|五月 6月|六月 7月|七月 8月|八月 9月|九月 10月"
        "|十月 11月|十一月 12月|十二月",
        numbers="一 两|二|兩 三 四 五 六 七 八 九 十 十一 十二",
        units=("天", "周|週|个星期|星期|個星期|个礼拜", "个月|個月", "年"),
        of="",
        past=r"了|过(?!年)|過(?!年)|已经|已經|曾|刚才|昨",
        future=r"会|會|要|将|將|打算|准备|準備|想|明[天日]|下[周个]",
        unclear=r"出生|每|如果|常|总是|說|说|约|原定|预订|就",
        joins=r"但是|然后|因为|所以",
        not_before=r"[上下大以之每第初年一两二三四五六七八九十几幾半多0-9零百千、~-]$",
        not_after=r"[期围圍年岁歲度天多半至到~、]|(?<=[月周週期拜])[一二三四五六七八九十0-9]",
        spaced=False,
    ),
    "ja": Language(
        rules="""
            day 0 = 今日|今夜|今晩|今朝
            day -1 = 昨日|昨夜|昨晩
            day 1 = 明日|あした
            day -2 = 一昨日|おととい
            day 2 = 明後日|あさって
            n -1 = {n} {unit} 前
            n 1 = {n} {unit} 後
            week -2 = 先々週
            week -1 = 先週
            week 0 = 今週
            week 1 = 来週
            week 2 = 再来週
            weekend -1 = 先週末
            weekend 0 = 今週末
            weekend 1 = 来週末
            month -1 = 先月
            month 0 = 今月
            month 1 = 来月
            month 2 = 再来月
            year -2 = 一昨年|おととし
            year -1 = 去年|昨年
            year 0 = 今年
            year 1 = 来年
            year 2 = 再来年
            weekday -1 = 先週 の? {weekday} 曜日|曜
            weekday 0 = 今週 の? {weekday} 曜日|曜
            weekday 1 = 来週 の? {weekday} 曜日|曜
            agree 0 = 次|今度 の {weekday} 曜日|曜
            bare 0 = {weekday} 曜日|曜 に
            date 0 = {month} {day} 日
            in 0 = {month} に
            since 0 = {month} から
        """,
        weekdays="月 火 水 木 金 土 日",
        months="1月|一月 2月|二月 3月|三月 4月|四月 5月|五月 6月|六月 7月|七月 8月|八月 9月|九月 10月"
        "|十月 11月|十一月 12月|十二月",
        numbers="一 二 三 四 五 六 七 八 九 十 十一 十二",
        units=("日", "週間", "か月|ヶ月|カ月|ヵ月|ケ月|箇月", "年"),
        of="",
        past=r"(?:まし|でし|かっ|っ|し|い|え|き|み|れ|せ|け|べ|り|ん"
        r"|\p{Han})[ただ](?=[。、！!？?」\s]|が|ので|から|けど|よ|ね|$)",
        future=r"ます(?!か)|予定|つもり|明日|来週|たい|う(?=[。、！!？?\s]|$)",
        unclear=r"生まれ|毎|いつも|と言|なら|たら|よく|予約|約束",
        joins=r"しかし|それで",
        not_before=r"[一二三四五六七八九十数半第毎再0-9約年々末~、-]$|毎週$|日$|先$",
        not_after=r"[後半度香菜葉間号末頃ごほ0-9~、]|まで",
        spaced=False,
    ),
    "ar": Language(
        rules="""
            day 0 = اليوم; الليلة; هذا الصباح|المساء; صباح|مساء اليوم
            day -1 = أمس; البارحة; مساء|صباح أمس; الليلة الماضية
            day 1 = غدا|غدًا|غداً
            day -2 = أول أمس; أول من أمس
            day 2 = بعد غد
            n -1 = قبل|منذ {n} {unit}
            n 1 = بعد {n} {unit}
            day -1 = قبل|منذ يوم
            day -2 = قبل|منذ يومين
            weeks -1 = قبل|منذ أسبوع
            weeks -2 = قبل|منذ أسبوعين
            months -1 = قبل|منذ شهر
            months -2 = قبل|منذ شهرين
            years -1 = قبل|منذ سنة|عام
            years -2 = قبل|منذ سنتين|عامين
            weeks 1 = بعد أسبوع
            weeks 2 = بعد أسبوعين
            months 1 = بعد شهر
            months 2 = بعد شهرين
            week -1 = الأسبوع الماضي
            week 0 = هذا الأسبوع
            week 1 = الأسبوع القادم|المقبل
            month -1 = الشهر الماضي
            month 0 = هذا الشهر
            month 1 = الشهر القادم|المقبل
            year -1 = العام الماضي; السنة الماضية
            year 0 = هذا العام; هذه السنة
            year 1 = العام القادم|المقبل; السنة القادمة|المقبلة
            last 0 = يوم? {weekday} الماضي|الماضية
            agree 0 = يوم? {weekday} القادم|القادمة|المقبل|المقبلة
            bare 0 = يوم {weekday}
            date 0 = في|يوم? {day} {month}
            in 0 = في {month}
            since 0 = منذ {month}
        """,
        weekdays="الاثنين|الإثنين الثلاثاء الأربعاء|الاربعاء الخميس الجمعة السبت الأحد|الاحد",
        months="يناير فبراير مارس أبريل|ابريل مايو يونيو|يونيه يوليو|يوليه أغسطس|اغسطس سبتمبر أكتوبر|اكتوبر"
        " نوفمبر ديسمبر",
        numbers="واحد اثنين ثلاثة|ثلاث أربعة|أربع خمسة|خمس ستة|ست سبعة|سبع ثمانية|ثماني تسعة|تسع عشرة|عشر",
        units=("أيام|يوما|يوماً|يومًا", "أسابيع|أسبوعا|أسبوعاً", "أشهر|شهور|شهرا|شهراً", "سنوات|أعوام|سنة|عاما|عاماً"),
        of="",
        past=r"\b(?:كان|كانت|كنت|كنا|لقد|أمس|ذهبت|ذهبنا|قابلت|قابلنا|رأيت|زرت|زرنا|اشتريت|وصلت|سافرت|التقيت|التقينا)\b",
        future=r"\b(?:سوف|س[أنيت]\w{2,}|غدا|غدًا|القادم|موعد)\b",
        unclear=r"\b(?:قال|قالت|وعد|إذا|كل|دائما|عادة)\b",
        joins=r"\b(?:لكن|لأن|ثم)\b",
        not_before=r"\b(?:كل|في|ذلك|هذا|نفس) $",
        not_after=r" (?:من|أو|كامل)\b|(?<=اليوم) ال\w+",
        needs_future=True,
    ),
}
