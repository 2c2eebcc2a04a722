"""Whether a statement tells of a change, of a plan or of the past, by the words that say so in its language.

`_` stands for a space; in scripts without spaces a word is looked for anywhere.
"""

from collections.abc import Mapping
from functools import cache

import regex

# What says that something has become otherwise or has ended.
CHANGE_WORDS: Mapping[str, str] = {
    "en": (
        "now no_longer any_more anymore moved switched quit quits left stopped stops changed broke_up"
        " divorced separated died passed_away sold gave_up replaced instead went_up went_down rose dropped"
        " rewritten became has_become turned retired cancelled canceled ended cured recovered has_grown"
        " grew_to increased decreased resigned lost dismissed fired gone_back postponed rescheduled"
        " pushed_back brought_forward delayed renamed promoted joined took_up started began has_begun again"
        " finished closed married remarried"
    ),
    "de": (
        "jetzt nun inzwischen mittlerweile nicht_mehr kein_mehr umgezogen gezogen gewechselt wechselte"
        " gekündigt aufgehört aufgegeben verlassen verkauft gestorben verstorben getrennt geschieden statt"
        " stattdessen geändert gestiegen gesunken geworden ersetzt umgestiegen beendet abgesagt keinen_mehr"
        " keine_mehr wieder verschoben verlegt angefangen begonnen umbenannt befördert gestrichen ausgezogen"
        " eingezogen geheiratet"
    ),
    "es": (
        "ahora ya_no dejó ha_dejado cambió ha_cambiado se_mudó se_ha_mudado vendió ha_vendido murió ha_muerto"
        " falleció se_separó se_divorció subió ha_subido bajó ha_bajado en_lugar_de en_vez_de terminó renunció"
        " abandonó sustituyó ha_pasado pasó_a ha_empezado empezó de_nuevo otra_vez aplazado pospuesto"
        " divorciado divorciada separado separada divorciaron separaron mudado mudó cambiado casó"
    ),
    "fr": (
        "maintenant désormais ne_plus n'est_plus n'a_plus plus déménagé quitté changé arrêté cessé vendu mort"
        " décédé séparé divorcé remplacé augmenté baissé devenu abandonné démissionné à_la_place_de au_lieu_de"
        " passé passée passés repoussé repoussée reporté reportée avancé commencé recommencé de_nouveau"
        " divorcée séparée"
    ),
    "it": (
        "ora adesso ormai non_più più trasferito trasferita lasciato cambiato smesso venduto morto morta"
        " separato separata divorziato sostituito aumentato diminuito diventato diventata invece_di"
        " abbandonato passato_a passata_a spostato spostata rinviato rinviata iniziato ricominciato di_nuovo"
        " divorziata passato passata sostituita sposato sposata"
    ),
    "pt": (
        "agora já_não não_mais deixou mudou mudou-se trocou vendeu morreu faleceu separou-se divorciou-se"
        " subiu baixou parou substituiu em_vez_de abandonou passou_a tornou-se mudado adiado adiada começou"
        " voltou_a de_novo divorciado divorciada separado separada passou trocado trocada casou"
    ),
    "ru": (
        "теперь сейчас больше_не уже_не переехал переехала перешёл перешла уволился уволилась бросил бросила"
        " сменил сменила продал продала умер умерла развёлся развелась расстался расстались вместо вырос"
        " выросла стал стала перестал перестала снова опять начал начала перенесён перенесли перенесена"
        " развелись переехали женился вышла_замуж"
    ),
    "zh": (
        "现在 已经 不再 再也不 改 换 搬 辞 离开 离婚 分手 去世 卖 戒 升 涨 降 停止 变 成为 又 重新"
        " 开始 推迟 提前 调到 结婚"
    ),
    "ja": (
        "今は 今では 現在 もう やめ 辞め 引っ越し 引っ越した 転職 変わ 変え 変更 別れ 離婚 亡くな 売っ"
        " なった 上がっ 下がっ また 始め 延期 移っ 結婚し"
    ),
    "ar": (
        "الآن لم_يعد لم_تعد انتقل انتقلت ترك تركت غير غيرت توقف توقفت باع باعت مات ماتت توفي توفيت انفصل طلق"
        " أصبح أصبحت ارتفع انخفض بدلا مرة_أخرى بدأ بدأت تأجل تأجلت انفصلا تزوج تزوجت"
    ),
}

# What is intended, wished for or only possible.
PLAN_WORDS: Mapping[str, str] = {
    "en": (
        "plans planning would_like wants_to hopes hoping might may thinking_about thinking_of considers"
        " considering dreams intends will going_to if wishes one_day is_looking_for"
    ),
    "de": "plant möchte will vielleicht überlegt hofft würde träumt vorhat wird falls wenn eines_Tages sucht",
    "es": "planea quiere quisiera tal_vez quizás piensa espera podría va_a si algún_día le_gustaría busca",
    "fr": "prévoit voudrait veut peut-être pense espère pourrait va aimerait envisage si un_jour cherche",
    "it": "progetta vorrebbe vuole forse pensa spera potrebbe un_giorno se cerca medita",
    "pt": "planeja planeia quer gostaria talvez pensa espera poderia vai um_dia se procura",
    "ru": "планирует хочет хотел_бы хотела_бы возможно думает надеется может собирается если будет мечтает ищет",
    "zh": "打算 计划 想要 想 也许 可能 考虑 希望 如果 将",
    "ja": "予定 つもり たい かもしれ 考えて 希望 もし",
    "ar": "يخطط تخطط يريد تريد ربما يفكر تفكر يأمل تأمل سوف قد إذا يود تود",
}

# What says that a statement tells of the past: it has ended already, and nothing can end it again.
PAST_WORDS: Mapping[str, str] = {
    "en": "until till used_to formerly previously was were lived in_the_past as_a_child once",
    "de": "bis früher ehemals war waren wohnte lebte arbeitete damals als_Kind",
    "es": "hasta antes era fue vivía vivió trabajaba solía de_niño",
    "fr": "jusqu'en jusqu'à auparavant était habitait vivait travaillait autrefois",
    "it": "fino_a fino_al era viveva abitava lavorava un_tempo",
    "pt": "até antes era foi morava vivia trabalhava costumava",
    "ru": "до раньше был была были жил жила работал работала когда-то",
    "zh": "以前 曾经 曾 直到 过去",
    "ja": "以前 かつて 昔 まで でした いました",
    "ar": "حتى كان كانت سابقا عاش عاشت",
}


def speaks_of_change(text: str, language: str) -> bool:
    """Whether a statement says that something has become otherwise or has ended."""
    return _has_phrase(text, CHANGE_WORDS.get(language, ""))


def speaks_of_plans(text: str, language: str) -> bool:
    """Whether a statement tells what is intended, wished for or possible."""
    return _has_phrase(text, PLAN_WORDS.get(language, ""))


def speaks_of_past(text: str, language: str) -> bool:
    """Whether a statement tells how something was and no longer is."""
    return _has_phrase(text, PAST_WORDS.get(language, ""))


def _has_phrase(text: str, alternatives: str) -> bool:
    pattern = _phrase_pattern(alternatives)
    return bool(alternatives) and pattern.search(text) is not None


@cache
def _phrase_pattern(alternatives: str) -> regex.Pattern[str]:
    words = "|".join(regex.escape(word.replace("_", " ")) for word in alternatives.split())
    # Scripts without spaces have no word borders.
    border = "" if regex.search(r"[\p{Han}\p{Hiragana}]", alternatives) else r"\b"
    return regex.compile(f"{border}(?:{words}){border}", regex.IGNORECASE)
