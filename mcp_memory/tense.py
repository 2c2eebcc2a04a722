"""Whether a statement tells of a change, of a plan or of the past, by the words that say so in its language.

Each list holds patterns, set apart by white space; most of them are plain words. `_` stands for a space, `<hour>` for
a number that is no year, `<weekday>` for the names of the days, `<verb>` for verbs as they stand after "will". In
scripts without spaces a word is looked for anywhere.

A word that may mean two things tells by what stands beside it, or gives way to `OTHER_MEANINGS`. In doubt it counts
for nothing: of a change that goes unseen two memories remain, and one that is none may end the wrong memory.
"""

from collections.abc import Mapping
from functools import cache
from typing import Literal

import regex

from .date_words import LANGUAGES as DATE_WORDS

# What says that something is over: it ends what it denies, and nothing else.
ENDING_WORDS: Mapping[str, str] = {
    "en": r"""
        no_longer(?!_than) any_more(?!_than) anymore quit quits left stopped stops broke_up divorced separated died
        passed_away sold gave_up dropped retired cancelled canceled ended cured recovered resigned lost dismissed
        fired finished closed
    """,
    "de": r"""
        nicht_mehr(?!_als) keine?[nmrs]?_(?:\w+_){0,2}mehr(?!_als)
        gekündigt aufgehört aufgegeben verlassen verkauft gestorben verstorben getrennt geschieden beendet abgesagt
        gestrichen ausgezogen
    """,
    "es": """
        ya_no dejó ha_dejado vendió ha_vendido murió ha_muerto falleció se_separó se_divorció terminó renunció
        abandonó divorciado divorciada separado separada divorciaron separaron
    """,
    "fr": r"""
        plus_jamais n(?:e_|')(?:\w+[_']){0,4}(?<!\b(?:non|pas|de|le|la|les)_)plus(?!_(?:d'une?|de_<hour>))
        quitté arrêté cessé vendu mort décédé séparé divorcé abandonné démissionné divorcée séparée
    """,
    "it": r"""
        mai_più non_(?:\w+[_']){0,4}(?<!\b(?:di|il|la|i|gli|le|molto)_)più(?!_(?:di_<hour>|di_un\w*|che))
        lasciato smesso venduto morto morta separato separata divorziato abbandonato divorziata
    """,
    "pt": r"""
        já_não não_(?:\w+_){0,3}mais(?!_(?:de|do|que|\w+_(?:do_)?que)\b)
        deixou vendeu morreu faleceu separou-se divorciou-se parou abandonou divorciado divorciada separado separada
    """,
    "ru": """
        больше_не уже_не уволился уволилась бросил бросила продал продала умер умерла развёлся развелась
        расстался расстались перестал перестала развелись
    """,
    "zh": r"""
        不再 再也不 离开 离婚 分手 去世 停止
        (?<![告推])辞(?:了|掉|去|退|任|职(?!信))
        (?<![外买])卖(?:了|掉|出|给|光)
        (?<![警惩])戒(?:了|掉|断|除|烟|酒|糖|赌|毒)
    """,
    "ja": r"""
        やめ 辞め 別れ 離婚 亡くな もう(?!一|ひと|[1-9１-９]|少し|ちょっと|すぐ) 売っ(?!てい|てる)
    """,
    "ar": """
        لم_يعد لم_تعد ترك تركت توقف توقفت باع باعت مات ماتت توفي توفيت انفصل طلق انفصلا
    """,
}

# What says that something holds from now on: it ends what cannot hold beside it.
BEGINNING_WORDS: Mapping[str, str] = {
    "en": r"""
        now became has_become turned has_grown promoted joined took_up started began has_begun again gone_back
        married remarried
    """,
    "de": "jetzt nun inzwischen mittlerweile geworden wieder angefangen begonnen befördert geheiratet",
    "es": "ahora ha_empezado empezó de_nuevo otra_vez casó",
    "fr": "maintenant désormais devenu commencé recommencé de_nouveau",
    "it": "ora adesso ormai diventato diventata iniziato ricominciato di_nuovo sposato sposata",
    "pt": "agora tornou-se começou voltou_a de_novo casou",
    "ru": "теперь сейчас стал стала снова опять начал начала женился вышла_замуж",
    "zh": r"""
        现在 已经 成为 重新 开始 结婚 提升 晋升 (?<!不)变(?:成|为|了|得|更|回|好|坏)
        又(?!名|称|.{0,8}又)(?<!又.{0,8}又)
    """,
    "ja": "今は 今では 現在 結婚し (?<![異重])なった また(?!は|[、がぐ]) 始め(?!ま)",
    "ar": "الآن أصبح أصبحت مرة_أخرى بدأ بدأت تزوج تزوجت",
}

# What says that one thing has taken the place of another.
REPLACING_WORDS: Mapping[str, str] = {
    "en": r"""
        switched changed replaced instead went_up went_down rose dropped rewritten grew_to increased decreased
        postponed rescheduled pushed_back brought_forward delayed renamed
    """,
    "de": r"""
        gewechselt wechselte statt stattdessen geändert gestiegen gesunken ersetzt umgestiegen verschoben verlegt
        umbenannt
    """,
    "es": """
        cambió ha_cambiado subió ha_subido bajó ha_bajado en_lugar_de en_vez_de sustituyó ha_pasado pasó_a aplazado
        pospuesto cambiado
    """,
    "fr": """
        changé remplacé augmenté baissé à_la_place_de au_lieu_de passé passée passés repoussé repoussée reporté
        reportée avancé
    """,
    "it": """
        cambiato sostituito aumentato diminuito invece_di passato_a passata_a spostato spostata rinviato rinviata
        passato passata sostituita
    """,
    "pt": "trocou subiu baixou substituiu em_vez_de passou_a adiado adiada passou trocado trocada",
    "ru": "перешёл перешла сменил сменила вместо вырос выросла перенесён перенесли перенесена",
    "zh": r"""
        改变了 推迟 提前 调到
        改(?:成|为|到|用|名|叫|喝|吃|做|学|坐|骑|去|了)
        (?<![交兑])换(?:成|为|到|了|掉|工作|房|手机|车|电脑|号|学校|公司|药)
        上升 (?<![\d一二两三四五六七八九十几])升(?:到|至|为|了|职|任|级|成|高(?!中))
        上涨 涨(?:到|至|了|价|薪|工资|租|房租|回)
        下降 (?<!投)降(?:到|至|为|了|价|薪|级|职|低了|低到)
    """,
    "ja": r"""
        転職 変更 上がっ 下がっ 延期
        変わ(?!ら|り者|った(?:人|名|趣味)) 変え(?!ない|ません)
    """,
    "ar": r"غير_\w+(?:ه|ها) غيرت ارتفع انخفض بدلا تأجل تأجلت",
}

# People move, and so do sofas.
MOVING_WORDS: Mapping[str, str] = {
    "en": "moved",
    "de": "umgezogen gezogen eingezogen",
    "es": "se_mudó se_ha_mudado mudado mudó",
    "fr": "déménagé",
    "it": "trasferito trasferita",
    "pt": "mudou mudou-se mudado",
    "ru": "переехал переехала переехали",
    "zh": "搬(?:到|进|入|出|去|走|回|离|了|迁|至|往|来|家(?!公司))",
    "ja": "引っ越し 移っ",
    "ar": "انتقل انتقلت",
}

Change = Literal["ended", "begun", "replaced", "moved"]
_CHANGES: Mapping[Change, Mapping[str, str]] = {
    "ended": ENDING_WORDS,
    "begun": BEGINNING_WORDS,
    "replaced": REPLACING_WORDS,
    "moved": MOVING_WORDS,
}
# What says that something has become otherwise or has ended.
CHANGE_WORDS: Mapping[str, str] = {code: " ".join(words[code] for words in _CHANGES.values()) for code in ENDING_WORDS}

# What is intended, wished for or only possible.
PLAN_WORDS: Mapping[str, str] = {
    "en": r"""
        plans planning would_like wants_to hopes hoping might may thinking_about thinking_of considers
        considering dreams intends will \w+'ll going_to if wishes one_day is_looking_for
    """,
    "de": "plant möchte will vielleicht überlegt hofft würde träumt vorhat wird falls wenn eines_Tages sucht",
    "es": "planea quiere quisiera tal_vez quizás piensa espera podría va_a si algún_día le_gustaría busca",
    "fr": "prévoit voudrait veut peut-être pense espère pourrait va aimerait envisage si un_jour cherche",
    "it": "progetta vorrebbe vuole forse pensa spera potrebbe un_giorno se cerca medita",
    # A "se" that is no "if" belongs to a verb: "se mudou", "tornou-se".
    "pt": r"""
        planeja planeia quer gostaria talvez pensa espera poderia vai um_dia procura
        (?<=^|[,;:.]_)se(?!_(?:mud|cas|form|apos|chama|separ|divorc|torn)\w*)
        (?<!-)se_(?:ele|ela|o|a|os|as|não|houver|tiver|for|puder)
    """,
    "ru": "планирует хочет хотел_бы хотела_бы возможно думает надеется может собирается если будет мечтает ищет",
    "zh": r"""
        打算 计划 也许 可能 考虑 希望 如果 即将
        (?<![理思梦幻设联感回猜妄构料着])想(?![象法起念必到像通出])
        (?<![麻大名老主健虎])将(?:要|会|于|在|来|成为|是|有|前往|搬|去|开始|参加)
    """,
    "ja": r"""
        予定 つもり かもしれ 考えて 希望 (?<!お)もし(?!くは|もし)
        (?<!冷|重|硬|眠|いっ|だい|めで|ありが)たい(?!てい|へん|した|そう|(?<=みたい)[なにだ])
    """,
    "ar": "يخطط تخطط يريد تريد ربما يفكر تفكر يأمل تأمل سوف قد إذا يود تود",
}

# What says that a statement tells of the past: it has ended already, and nothing can end it again.
PAST_WORDS: Mapping[str, str] = {
    "en": r"""
        until till used_to formerly previously was were lived in_the_past as_a_child
        once
    """,
    "de": "bis früher ehemals war waren wohnte lebte arbeitete damals als_Kind",
    "es": "hasta antes era fue vivía vivió trabajaba solía de_niño",
    "fr": "jusqu'en jusqu'à auparavant était habitait vivait travaillait autrefois",
    "it": "fino_a fino_al era viveva abitava lavorava un_tempo",
    "pt": "até antes era foi morava vivia trabalhava costumava",
    "ru": r"""
        до(?=_(?:\d{4}|прошл|недавн|конца|начала|середины)) раньше был была были жил жила работал работала когда-то
    """,
    "zh": r"""
        曾经 (?<![小老姓未不何])曾(?:在|是|任|为|住|有|做|当|于|担任|就读|去|到|被|一度|多次|用|养)
        (?<![点号觉饭床课班门])以前 (?<![走跑开飞骑车搬拿送寄传穿跳])过去
        直到(?!现在|今|明|后天|周|星期|礼拜|下|[^，。]{0,6}点)
    """,
    "ja": r"""
        以前 かつて 昔(?!話) でした [てでがはもに]いました
        (?:去年|[0-9０-９]{4}年|先月|先週|(?<![来今ヶかカ])月|頃|ころ|最近)まで
    """,
    "ar": "حتى كان كانت سابقا عاش عاشت",
}

# What looks like one of the words above, and is none.
OTHER_MEANINGS: Mapping[str, str] = {
    # Large: a name or a month, unless it begins the sentence as a verb does ("Will move in spring").
    "en": r"""
        (?!^\w+_<verb>\b)(?-i:May|Will|Rose)
        may_\(?\d (?<=\d(?:st|nd|rd|th)?_(?:of_)?)may
        (?<=\b(?:in|since|until|till|by|this|last|next|early|late|mid|from|during|every)[_-])may(?!_<verb>\b)
        (?<='s?_|\b(?:a|the|his|her|their|my|our|good|free|ill|strong|own|last|living|against|at)_)will
        (?<=\b(?:a|an|the|red|white|single|wild)_)rose rose_(?:wine|garden|bush|gold|water|tea)
        (?:until|till)_(?:about_|around_)?<hour>(?!_\w+_ago|\w*_(?:of_)?\p{L}+_\d{4})
        (?:until|till)_(?:<weekday>|noon|midday|midnight|late|dawn|dusk|sunrise|sunset|dark)
        (?:until|till)_(?:now|today|tonight|tomorrow|next|further)
        (?:until|till)_(?:(?:the|early|late)_)+(?:morning|afternoon|evening|night|weekend)
        (?:is|are|am|be|been|gets?|got|getting)_(?:not_|\w+ly_)?used_to (?<='(?:s|m|re)_(?:not_)?)used_to
        (?:has|have)_(?:always_)?lived (?:was|were)_born
        left[_-](?:hand|handed|hander|side|knee|ear|eye|foot|leg|arm|shoulder|wing|ankle|wrist|hip)
        (?<=\b(?:the|his|her|my|to)_)left (?:bus|tram|train|metro)_stops
        once_(?:a|an|every|each|per|in|more|again|daily|weekly|monthly|yearly|or)
        once_(?:the|this|that|i|you|he|she|it|we|they|his|her|their|my) (?<=\bat_)once
        now_and_(?:then|again) again_and_again time_and_again
        one_day_(?:a|per|each|every|of|in|off|ago|before|after) considers_(?:\w+self|themselves)
        (?:floor|pension|lesson|meal|training|business|savings|phone)_plans
        going_to_(?:the|a|an|my|his|her|their|our|school|church|bed)
    """,
    # Large within a sentence: a noun.
    "de": r"""
        bis_(?:zu_|zum_|etwa_|gegen_|ca\._)?<hour>(?!\.?_\p{L}+_\d{4}) bis_\w+mal
        bis_(?:zum_)?(?:<weekday>s?|morgens?|mittags?|nachmittags?|abends?|nachts|mitternacht|spät\w*|wochenende)
        bis_(?:heute|jetzt|ins?|auf|bald)
        immer_wieder hin_und_wieder früher_als verlassen(?<=\bauf_[^.,;]{0,60}verlassen)
        statt(?<=\b(?:findet|finden|fand|fanden)_[^.;]{0,60}statt)
        (?<=[\w,]_)(?-i:Sucht|Würde|Waren)
    """,
    "es": r"""
        hasta_(?:las?_|el_)?<hour>(?!_de_\p{L}+_de_\d{4})
        hasta_(?:el_|la_)?(?:<weekday>|una|mañana|ahora|hoy|tarde|noche|madrugada|mediodía|medianoche)
        antes_del? cuanto_antes lo_antes_posible piensa_que
        va_a_(?:la|las|los|el|un|una|su|clase|clases|misa|pie)
    """,
    "fr": r"""
        jusqu'à_<hour>(?!_\p{L}+_\d{4})
        jusqu'à_(?:<weekday>|midi|minuit|présent|maintenant|aujourd'hui|demain|tard)
        pense_que un_jour_(?:par|sur) va_(?:à|au|aux|en|chez|bien|mal|dans|souvent)
    """,
    "it": r"""
        fino_al?_<hour>(?!_\p{L}+_\d{4})
        fino_al?_(?:<weekday>|domani|tardi|mezzanotte|mezzogiorno|oggi|ora)
        (?:un|mezz|l|all|dell|quest|ogn|ciascun)'ora (?:un|mezza|ogni|altra|che|\d)_ora
        ora_(?:di|del|della|dei|legale|solare|locale|e_mezz[ao]|al|alla)
        pensa_che un_giorno_(?:alla|a|su|di|della) se_(?:ne|stess[oa])
    """,
    "pt": r"""
        até_(?:às?_|ao?_|o_)?<hour>(?!_de_\p{L}+_de_\d{4})
        até_(?:à_|ao?_|o_)?(?:<weekday>|amanhã|agora|hoje|tarde|meia-noite|meio-dia|mesmo)
        antes_d[eoa]s? quanto_antes pensa_que um_dia_(?:por|d[ae])
        vai_(?:à|ao|às|aos|a_pé|de|para|bem|mal|com|em)
    """,
    "ru": "думает,?_что вырос(?:ла)?_в",
    "ar": "حتى_(?:الآن|اليوم|الساعة|منتصف|المساء|الغد|غدا|لو|<hour>|(?:يوم_)?<weekday>)",
}

_BASE_VERBS = "(?:be|not|have|get|go|move|start|stop|try|see|take|make|do|meet|travel|fly|visit|buy|work|marry)"


def speaks_of_change(text: str, language: str) -> bool:
    """Whether a statement says that something has become otherwise or has ended."""
    return _has_word(text, CHANGE_WORDS, language)


def changes_in(text: str, language: str) -> frozenset[Change]:
    """What kinds of change a statement speaks of.

    >>> sorted(changes_in("The user quit Siemens and joined Bosch.", "en"))
    ['begun', 'ended']
    """
    return frozenset(change for change, words in _CHANGES.items() if _has_word(text, words, language))


def without_change_words(text: str, language: str) -> str:
    """A statement without the words that say how it changed; what stands between two of them stays.

    >>> without_change_words("Der Nutzer isst kein Fleisch mehr.", "de")
    'Der Nutzer isst Fleisch.'
    """
    if language not in CHANGE_WORDS:
        return text
    cut = _pattern(CHANGE_WORDS[language], language).sub(
        lambda match: " ".join(regex.split(r"[ ']", match.group())[1:-1]), _plain(text)
    )
    return " ".join(cut.split())


def speaks_of_plans(text: str, language: str) -> bool:
    """Whether a statement tells what is intended, wished for or possible.

    >>> speaks_of_plans("Will will move in May.", "en"), speaks_of_plans("Will is the user's brother.", "en")
    (True, False)
    """
    return _has_word(text, PLAN_WORDS, language)


def speaks_of_past(text: str, language: str) -> bool:
    """Whether a statement tells how something was and no longer is."""
    return _has_word(text, PAST_WORDS, language)


def _has_word(text: str, words: Mapping[str, str], language: str) -> bool:
    if language not in words:
        return False
    plain = _plain(text)
    if language in OTHER_MEANINGS:
        plain = _pattern(OTHER_MEANINGS[language], language).sub("…", plain)
    return _pattern(words[language], language).search(plain) is not None


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


@cache
def _pattern(words: str, language: str) -> regex.Pattern[str]:
    dates = DATE_WORDS[language]
    # The first of the numbers is an article in most languages.
    numbers = "|".join(dates.numbers.split()[1:])
    alternatives = (
        "|".join(words.split())
        .replace("_", " ")
        .replace("<hour>", rf"(?:\d{{1,3}}(?!\d)|(?:{numbers})\b)")
        .replace("<weekday>", f"(?:{'|'.join(dates.weekdays.split())})")
        .replace("<verb>", _BASE_VERBS)
    )
    # Scripts without spaces have no word borders.
    border = r"\b" if dates.spaced else ""
    return regex.compile(f"{border}(?:{alternatives}){border}", regex.IGNORECASE)
