"""Secrets in a text, found by their shape or by the words before them, and taken out.

Three kinds of evidence: a shape that nothing else has (a vendor's key, a PEM block), a number that checks
(a card), and a noun with a value after it ("the password is ...") in ten languages. Where the evidence is
weak the text stays: a sentence about passwords is a memory, a password is not.

Every pattern starts at a rare word or is bounded in length, so that a long text costs time in proportion.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from .stopwords import STOPWORDS

PLACEHOLDER = "[secret]"


@dataclass(frozen=True, slots=True)
class Secret:
    """One span of a text, `text[start:end]`; `kind` is key, token, password, url password, private key, card or pin."""

    start: int
    end: int
    kind: str


# Prefixes that only keys have. After the first list come letters and digits, after the second also "-" and "_".
_PLAIN_PREFIXES = r"""sk_live_ sk_test_ rk_live_ rk_test_ ghp_ gho_ ghu_ ghs_ ghr_ hf_ npm_ dop_v1_ doo_v1_ dor_v1_
    shpat_ shpca_ shppa_ shpss_ lin_api_ gsk_ r8_ sbp_ rubygems_ ntn_ dapi pplx- xai- sk- figd_ PMAK- NRAK-
    AGE-SECRET-KEY-1"""
_JOINED_PREFIXES = r"""sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- github_pat_ glpat- gldt- glrt- glptt- glcbt- AIza
    ya29\. GOCSPX- eyJ hvs\. tskey- dckr_pat_ glsa_ sntrys_ pscale_tkn_ pscale_pw_ ATATT3 pypi-AgE dp\.pt\. xapp-"""
_KEYS = rf"""(?:{"|".join(_PLAIN_PREFIXES.split())})[^\W_]{{16,}}+ whsec_[\w+/=]{{16,}}+ xox[a-z]-[\w-]{{10,}}+
    (?:{"|".join(_JOINED_PREFIXES.split())})[\w-]{{14,}}+(?:\.[\w-]++)*+ SG\.[\w-]{{16,64}}+\.[\w-]{{16,}}+
    sk-(?=[A-Za-z-]{{0,40}}\d)[\w-]{{20,}}+ pypi-\w{{32,}}+[\w-]*+ 1//0[\w-]{{30,}}+ mfa\.[\w-]{{60,}}+
    A[KS]IA[A-Z0-9]{{16,}}+ (?:(?:SK|AC|key-)[0-9a-f]{{32}}|[0-9a-f]{{32}}-us\d{{1,2}}|xprv[^\W_]{{100,}}+)(?![^\W_])"""
_URL = r"\b[a-z][a-z0-9+.-]{1,20}://"
# Where a pattern names a group `s`, the secret is that group and the words before it stay.
_SHAPES = tuple(
    (kind, regex.compile(pattern, regex.ASCII | regex.IGNORECASE))
    for kind, pattern in (
        # To its end, or when cut off: headers, long runs, and what is left of the last line.
        ("private key", r"""-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"""
         r"""(?:[^-]|-(?!----))*+-----END[ A-Z0-9]{0,40}(?:-----)?|"""
         r"""(?:(?:[\s>|"'+,]|\\+[nr])*+(?:[a-z]+-?[a-z]+: [^\n\\]*+|[a-z0-9+/=_-]{16,}+))*+"""
         r"""(?:(?:\s|\\+[nr])*+[a-z0-9+/]+=*(?=\s*$|\n))?)"""),
        ("key", rf"(?<![^\W_])(?-i:{'|'.join(_KEYS.split())})"),
        ("token", r"(?<![\w-])\d{8,12}:[\w-]{30,50}+(?![\w-])"),
        ("token", r"(?<![\w.-])[MNO][\w-]{22,28}\.[\w-]{6}\.[\w-]{25,}+"),
        ("token", r"\b(?:hooks\.slack\.com/\w{4,12}|discord(?:app)?\.com/api/webhooks/\d{5,25})/(?P<s>[\w/-]{16,}+)"),
        ("token", r"""\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|digest|apikey)\s{1,3})?"""
         r"""(?P<s>(?!(?:bearer|basic|token|digest|apikey)\b)[^\s"'<>,;]{4,}+)"""),
        ("token", r"\b(?:bearer|basic)\s{1,3}(?P<s>(?=[a-z_.~+/-]{0,60}[\d=])[\w.~+/-]{16,}+=*+)"),
        ("token", r"\b(?:set-)?cookie:\s{0,3}(?P<s>[^\s=;]{1,60}=[^\n]{1,4000})"),
        ("url password", _URL + r"""[^\s/:@"'<>]{0,80}:(?P<s>[^\s/"'<>$\{][^\s/"'<>]{0,120})@"""),
        ("token", _URL + r"(?P<s>(?=[a-z_-]{0,60}\d)[\w-]{20,120}+)@"),
        ("token", r"""[?&#][\w-]{0,30}(?:token|api_?-?key|password|passwd|pwd|secret)=(?P<s>[^\s&#"'<>]{3,}+)"""),
        ("token", r"""[?&#](?:key|sig|signature|auth|code|credential|x-amz-\w+|session\w*)=(?P<s>[^\s&#"'<>]{16,}+)"""),
        ("password", r"""\bcurl\b[^\n]{0,120}?\s(?:-u|--user)[\s=]{1,3}["']?[^\s:"']{1,60}:(?P<s>[^\s"']{1,120})"""),
        ("password", r"""\b(?:credentials|log-?in|zugangsdaten)(?:\s(?:is|are|ist|sind)|:)\s{1,3}"""
         r"""[^\s:/|]{1,60}\s?[/|:]\s?(?P<s>(?=[^\sa-z]{0,60}[a-z])(?=[^\s\d]{0,60}\d)[^\s/][^\s,;"']{4,120})"""),
        ("password", r"""(?:--pass(?:word|wd|phrase)?\s{1,3}|\bsshpass\s-p\s?)["']?(?P<s>[^\s"'$=-][^\s"']{2,120})"""),
    )
)  # fmt: skip
_AWS_ID = regex.compile(r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}")
_AWS_SECRET = regex.compile(r"(?a)(?<![\w/+])(?=[^a-z]{0,39}[a-z])(?=[^A-Z]{0,39}[A-Z])[A-Za-z0-9/+]{40}(?![\w/+=])")


def _any_of(table: str) -> str:
    """An alternation of a table's patterns, in which `_` is a space, `~` a joint and `@` the edge of a word."""
    joined = "|".join(table.split()).replace("_", r"[ \u00a0]").replace("~", "[ \\x5f-]?")
    return joined.replace("@", r"(?<![\p{Latin}\p{Cyrillic}\p{N}])")


# What a value follows. A plain word is a value after a "word" only, after the others it must have digits.
_NOUNS = {
    "key": r"""(?:api|app|access|secret|private|encryption|signing|master|account|auth)~(?:access~)?(?:key|token|secret)
        (?:client|bot|bearer|refresh|session|security|webhook|storage|service|consumer|shared)~(?:access~)?(?:key|token|secret)
        token secret(?=\\?["'\]]{0,2}\s?[:=]) api~schlüssel zugriffs(?:token|schlüssel) clave_(?:de_)?(?:la_)?api
        clé_(?:d['’])?(?:de_l['’])?api chiave_api chave_(?:d[ea]_)?api (?:api-?)?ключ(?:_api)? токен\p{L}{0,2}
        (?:api_?)?密钥 密鑰 令牌 apiキー トークン シークレット مفتاح_(?:ال)?api رمز_الوصول""",
    "pin": r"""@pins?(?:~(?:code|nummer|number)|码)? @puk @пин(?:-?код)?\p{L}{0,2} @otp @(?-i:TAN) @sms-?codes? 暗証番号
        (?:recovery|backup|2fa|two-factor|mfa|otp|one~time|verification|authenticat(?:ion|or))~(?:code|key)s?
        (?:security|log-?in|sign-?in|access|entry|unlock|door|gate|alarm|lock|safe|garage)~(?:code|combination)s?
        (?:bestätigungs|sicherheits|wiederherstellungs|einmal|tür|alarm|zugangs|verifizierungs|notfall)-?codes?
        c[óo]digos?_de_(?:verifica|segur|recupera|ac[ce]es|un_solo|autentica)\p{L}{0,9}(?:_uso)? codes?_d['’]accès
        codes?_de_(?:vérification|sécurité|récupération|secours|validation|la_porte) codes?_(?:wi-?fi|d['’]entrée)
        codic[ei]_di_(?:verifica|sicurezza|recupero|accesso) одноразовый_код 验证码 驗證碼 恢复代码 备用代码 安全码
        код\p{L}{0,2}_(?:подтверждения|восстановления|доступа|безопасности) (?:認証|確認|リカバリー|バックアップ)コード
        (?:ال)?رمز_(?:التحقق|الأمان|الاسترداد) (?:ال)?(?:رقم|رمز)_(?:ال)?سري""",
    "word": r"""pass(?:word|code|phrase|wd)s? passwort(?:e?s|e)? passwörter kennwort(?:e?s)? pwd @pw @mdp mots?_de_passe
        contrase(?:ñ|n\u0303?)as? parola_d['’]ordine @senhas? palavra-passe парол(?:ь|я|ю|е|ем|и) кодовое_слово 密码
        密碼 口令 パスワード パスコード パスフレーズ 合言葉 كلم(?:ة|ات)_(?:ال)?(?:سر|مرور) (?:ال)?باس_?وو?رد""",
    "pass": r"""(?<=[\x5f./-])pass @pass(?=\s?[:=]) @claves? wi-?fi~(?:key|code) (?:wlan|netzwerk)-?schlüssel""",
}
_KIND = {"key": "key", "pin": "pin", "word": "password", "pass": "password"}
_SEED = r"""(?:seed|recovery|backup|secret|mnemonic)~(?:phrase|words)s? mnemonics? wiederherstellungsphrase 助记词
    frase_(?:semilla|di_recupero|de_recupera\p{L}{0,4}|seed) phrase_(?:de_récupération|mnémonique) сид-?фраз[аы]"""
_SECURITY_CODE = r"""cvc2? cvv2? @csc card_verification security_code (?:karten)?prüf(?:nummer|ziffer) sicherheitscode
    c[óo]digo_de_segur(?:idad|ança) code_de_sécurité cryptogramme(?:_visuel)? codice_di_sicurezza код_безопасности
    安全码 セキュリティコード رمز_الأمان"""
_EXPIRES = r"""@exp\p{L}{0,8} valid_(?:until|thru|through|till|to) good_thru gültig_bis läuft_ab ablauf\p{L}{0,8} caduca
    verfällt vence vencimiento válid[ao]_(?:hasta|até) valable_jusqu scade scadenza valida_fino validade срок 有效期
    到期 действ\p{L}{1,10}_до 有効期限 صالحة_(?:حتى|لغاية) تنتهي انتهاء"""
_VERBS = r"""(?:(?:is|was)_)?(?:set|changed|reset)_to is was are will_be equals ist war sind es era son est était è é
    são это был هي هو هى"""
_NAMING = r"lautet lauten heißt heisst reads"
_NOW = r"""now still currently simply just actually either jetzt noch immer aktuell weiterhin entweder ahora todavía
    sigue maintenant toujours ora adesso agora ainda теперь всё все сейчас الآن"""
_PREPOSITIONS = r"""for of to on at in from für zum zur vom von im bei beim an auf der des meine[rs] de[lr]? para pour
    du d['’]\p{L}+ della dell['’]\p{L}+ per do da от для к на из"""
_GAP_WORD = r"\s+[\p{L}\p{N}'’.@&/\x5f-]{1,30}"
# One by one they are found by their first letters, many times faster than as one alternation.
_NOUN = [(name, regex.compile(_any_of(noun), regex.I)) for name, table in _NOUNS.items() for noun in table.split()]
# From a noun to its value; `firm` where nothing but a value is to be expected.
_LINK = regex.compile(
    rf"(?:\s?\([^()\n]{{1,40}}\))?(?:\s+wi-?fi|\s+wlan)?(?:\s+(?:{_any_of(_PREPOSITIONS)})(?:{_GAP_WORD}){{0,6}}?"
    r"|(?:\s+[\p{Arabic}]{1,20}){1,5}?)??"
    r"""(?:(?P<firm>\\?["'\]]{0,2}\s{0,3}(?:=>|:=|={1,2}|[:：]|→|->|[—–](?=\s))|>(?=[^\s<])|["']\s+value="""
    rf"|\s+(?:{_any_of(_NAMING)}):?(?=\s))|(?:\s+(?:{_any_of(_VERBS)})|['’]s)(?P<firm>\s?[:：])?(?=\s)"
    r"|(?:设置为|設定為|改成|[是为為はがを])(?P<firm>\s?[:：])?)"
    rf"(?:\s+(?:{_any_of(_NOW)})(?=\s))?(?:[ \t]*\n)?[ \t\u3000]*",
    regex.IGNORECASE,
)
_NEXT = regex.compile(
    r"(?:\s+(?:to|auf|zu|in|a|à|en|para|на|إلى))?(?:\s*\|)?[ \t\u3000]+|(?<=[\p{Han}\p{Katakana}])(?=[!-~])",
    regex.IGNORECASE,
)
_OR = regex.compile(r"\s+(?:or|oder|o|ou|или|أو)\s+|或者?|または", regex.IGNORECASE)
_LIST = regex.compile(
    r"[ \t]*(?:[,;/|]|\s(?:and|or|und|oder|y|et|e|и)\s|\n)[ \t*•-]*|[ \t]+(?=[\w-]{8})", regex.IGNORECASE
)
_PLURAL = ("s", "i", "码", "ド")
_DIGITS_ONLY = ("pin", "puk", "пин")

_CJK_LETTER = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_CJK = rf"{_CJK_LETTER}。，、；！？（）」』"
_UNSPACED = regex.compile(rf"[{_CJK_LETTER}]")
_VALUE = regex.compile(
    r"""(?|\\"([^"\\\n]{1,80})\\"|"((?:[^"\\\n]|\\.){1,80})"|'((?:[^'\\\n]|\\.){1,80})'|`([^`\n]{1,80})`"""
    r"""|[“„]([^”“\n]{1,80})[”“]|«\s?([^»\n]{1,80}?)\s?»|「([^」\n]{1,80})」|『([^』\n]{1,80})』)"""
    rf"|[(\[]?(?P<bare>(?:[^\s{_CJK}<;&,]{{1,128}}+|<(?!/)|[;&,](?![\w ]{{1,30}}[=:])(?!\s|$)){{1,4}}"
    rf"|[{_CJK_LETTER}]{{2,20}})"
)
_TRAILING = ".,;:?)]}'\"”»،؛؟…*"
_CLAUSE_END = regex.compile(
    rf"""\s*(?:$|[\n.,;:!?)\]}}"'”»…،/|<{_CJK}]|[-—–]\s|(?:and|but|or|for|und|aber|oder|für|y|pero|o|para"""
    r"|et|mais|ou|pour|e|ma|mas|per|и|а|но|для|و|until|since|because|which|bis|seit|weil|hasta|porque|user\p{L}*|login|[\p{L}\x5f]+\s?[:=])(?!\p{L}))",
    regex.IGNORECASE,
)
_UNIT = regex.compile(
    r"[\s-]*(?:char|digit|letter|symbol|word|bit|byte|time|day|week|month|year|minute|second|hour|attempt|zeichen|stell"
    r"|ziffer|tag|jahr|monat|caract|dígit|cifr|carat|lettr|chiffre|día|anni|años|anos|символ|знак|цифр|лет|дн|位|个|個|字|文字"
    r"|桁|أحرف|حرف|%)",
    regex.IGNORECASE,
)
# Ordinals, measures, ranges; masks; addresses; labels; references to a variable, calls.
_NO_VALUE = regex.compile(
    r"\d{1,3}(?:%|\+|º|ª|-?\p{L}{1,2})?|\d{1,3}[-–](?:\p{L}+|\d{1,3})|[*•·.xX\x5f#?-]+|https?:.*|[\p{L}\x5f-]+[:=]"
    r"|(?:\$|<|\{|%[({]|\\).*|[A-Za-z_][\w.]*\(.*"
    r"|(?:self|args|config|cfg|settings|os|process|env|user|request|req|props|this|params|options|data|ctx|sys)[.\[].*",
)
_SYMBOL = regex.compile(r"(?V1)[!@#$%^&*+=_~|\\?§€]|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}")
_HUMP, _LETTER, _DIGIT = regex.compile(r"\p{Ll}\p{Lu}"), regex.compile(r"\p{L}"), regex.compile(r"\d")
_SPOKEN = regex.compile(r"['’]|^\d{1,3}-\p{L}+$")
_CODE = regex.compile(
    r"(?:\d{3,4}[ -]\d{3,4}|\d(?:[ -]\d){3,7}|\d{6}(?:-\d{6}){1,7}|(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9-]{4,48}"
    r"|[A-Z]{4,8}(?:-[A-Z]{4,8})+)(?![A-Za-z0-9])#?"
)
_MIN_KEY, _LONG_KEY, _MIN_ALONE, _MIN_VALUE = 7, 24, 6, 4
# What stands before a noun that comes last: "I use hunter2 as my wifi password".
_VALUE_FIRST = regex.compile(
    r"""(?:["'`](?P<quoted>[^"'`\n]{3,64})["'`]|(?P<bare>[^\s"'`]{4,64}))\s+"""
    r"(?:is|as|was|ist|als|es|como|est|comme|è|come|é|это|как|[—–-])\s+(?:the|my|our|your|an?|das|die|mein|meine|unser|dein|ihr"
    r"|la|mi|su|tu|el|mon|le|ma|notre|votre|mia|minha|sua|nossa|мой|наш|ваш)\s+(?:[\p{L}-]{1,20}\s+|[\p{L}-]{1,20}-){0,2}",
    regex.IGNORECASE | regex.REVERSE,
)
_NOUN_ENDS = regex.compile(r"\s*(?:$|[.,;!?)\n\"])|\s+(?:for|on|at|to|of|and|für|und|para|pour|per|del?|du|для|от)\b")
_LOOK_BACK = 140

# What goes on with the sentence after "the password is", beside grammar; names of products and of algorithms.
_STOP = frozenset().union(*(STOPWORDS[code] for code in ("en", "de", "es", "fr", "it", "pt", "ru", "ar"))) | frozenset(
    """without never none null nil true false quite rather really only already always again often both less different
    similar identical case wrong correct incorrect right invalid valid bad good fine okay great weak strong stronger
    weaker secure insecure safe unsafe short long longer shorter empty blank missing unknown optional required mandatory
    necessary needed important secret private public hidden visible simple easy hard difficult new old whatever
    something anything nothing everything someone everyone one two three four five six seven eight nine ten because must
    cannot may please forgot forgotten lost gone back due ready set reset sent kept written stuck broken known stolen
    shown default random unique common complex enough needs changed expired encrypted stored saved saying string str
    text int bool bytes any secretstr undefined todo tbd n/a passwd password username user login email field prompt
    there's undisclosed auto let bitwarden 1password lastpass keepass keepassxc dashlane nordpass protonpass keychain
    icloud iphone ipad macos github gitlab wifi wi-fi wlan oauth oauth2 sha1 sha256 sha512 md5 bcrypt argon2 argon2id
    pbkdf2 base64 utf8 utf-8 totp onedrive office365 falsch richtig korrekt ungültig gültig viel ganz schon immer
    unbekannt bekannt leer kurz lang schwach stark sicher unsicher einfach schwer gut schlecht weg neu alt geheim privat
    nötig notwendig pflicht hinterlegt bitte soll gleich dasselbe anders dort demasiado poco igual misma mismo
    incorrecta incorrecto correcta correcto inválida válida segura insegura débil fuerte corta larga vacía nueva vieja
    obligatoria necesaria secreta importante difícil fácil sous trop assez déjà toujours incorrecte faux fausse bon
    mauvais bonne invalide valide faible fort forte court courte vide nouveau vieux obligatoire nécessaire perdu secrète
    facile difficile ici molto troppo meno stessa stesso sbagliata sbagliato corretta errata valida debole lunga vuota
    nuova vecchia obbligatoria necessaria segreta sicura muito demais menos mesma mesmo incorreta correta errado fraca
    longa curta vazia nova velha obrigatória necessária aqui неверный неправильный верный правильный слишком твой старый
    новый слабый сильный короткий длинный простой сложный пустой нужен обязателен забыт такой надёжный секрет خاطئة خاطئ
    صحيحة ضعيفة قوية قصيرة طويلة مطلوبة منتهية محفوظة مخزنة جديدة قديمة نفس نفسها ليست سرية آمنة فارغة ضرورية""".split()
)
_ADJECTIVE = regex.compile(
    r"\p{Ll}+(?:ed|ing|able|ible|ful|less|ly|ive|ous|bar|lich|ig|los|isch|[ai]d[oa]s?|[au]t[oai]|ée?s?|ый|ой|ая|ое|ые"
    r"|[аеё]нн?[аоы]?|ят)|(?:(?:ab|an|auf|aus|ein|hinter|zurück)?ge|ver|be|ent|er|zer)\p{Ll}+(?:t|en)"
)
_STOP_CJK = regex.compile(
    r"[错錯不没沒必忘需未请請空太已对對存弱强違変長短]|什[么麼]|正确|設定|入力|です|ます|した|下さい|なし"
)

_DIGIT_RUN = regex.compile(r"(?<![A-Za-z\d+])(?<!\d[.-])\d++(?:[ \u00a0\u2009.–-]\d++)*+")
# Longer numbers, IBANs and UUIDs, parts of which may pass for a card.
_NOT_CARD = regex.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?![A-Za-z0-9])"
)
_NUMBER = regex.compile(r"\d+")
_ISSUER = regex.compile(r"[3-6]|2[2-7]")
_MAX_GROUPS, _MIN_CARD, _MAX_CARD = 8, 13, 19
_NEAR_AWS, _NEAR_CARD = 300, 150
_MONTH = r"(?:0?[1-9]|1[0-2])\s?[/.|–-]\s?(?:20)?\d\d|20\d\d[/.年-]\d{1,2}月?|\p{L}{3,9}\.?\s20\d\d"
_DATE = rf"(?P<s>(?<!\d)(?:{_MONTH})(?!\d|[/.-]\d))"
_AFTER_CARD = regex.compile(
    rf"[^\d\n]{{0,25}}{_DATE}(?:[^\d\n]{{1,20}}(?P<s>\d{{3,4}})(?!\d))?|[\s,;|/]{{1,3}}(?P<s>\d{{3}})(?![\d/.-])"
)
_EXPIRY = regex.compile(rf"(?:{_any_of(_EXPIRES)})[^\d\n]{{0,25}}?{_DATE}", regex.IGNORECASE)
_CVC = regex.compile(
    rf"(?:{_any_of(_SECURITY_CODE)})(?:[ -]?(?:code|number|value|nummer))?\)?"
    rf"(?:\s*(?:{_any_of(_VERBS)}|{_any_of(_NAMING)}|[是为は]))?[\s:：=#.(|-]{{0,4}}"
    r"(?P<s>\d{3,4})(?!\d|[-\s]{1,2}(?:digit|stell|cifr|chiffr))",
    regex.IGNORECASE,
)
_SEED_NOUN = regex.compile(_any_of(_SEED), regex.IGNORECASE)
# No seed phrase holds the words that hold a sentence together.
_SEED_WORDS = regex.compile(
    r"""[\s"'“„(]*+(?P<s>(?:(?:\d{1,2}[.):]?\s{0,3})?"""
    r"(?!(?:the|and|for|are|was|not|but|has|had|his|her|our|its|did|who|from|were|would|have)\b)"
    r"[a-z]{3,8}(?![\p{L}\p{N}'’-])[\s,;]{0,4}){12,24})"
)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Every secret in a text, in order, none overlapping another or a placeholder.

    >>> [(text[s.start:s.end], s.kind) for text in ["PIN is 4821"] for s in find_secrets(text)]
    [('4821', 'pin')]
    """
    found: list[Secret] = []
    pieces = [(start, start + len(piece)) for start, piece in _split(text)]
    # What is left around a secret is searched again by itself, so that a second redaction finds what this one saw.
    clean = {""}
    while pieces:
        start, end = pieces.pop()
        if text[start:end] in clean:
            continue
        here = _merge(_scan(text[start:end]))
        if not here:
            clean.add(text[start:end])
            continue
        last = start
        for secret in here:
            found.append(Secret(start + secret.start, start + secret.end, secret.kind))
            pieces.append((last, start + secret.start))
            last = start + secret.end
        pieces.append((last, end))
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> str:
    """The text with each secret replaced by `PLACEHOLDER`; doing it twice changes nothing more.

    >>> redact("my wifi password is hunter2, user ana")
    'my wifi password is [secret], user ana'
    """
    parts, last = [], 0
    for secret in find_secrets(text):
        parts += [text[last : secret.start], PLACEHOLDER]
        last = secret.end
    return "".join([*parts, text[last:]])


def holds_secret(text: str) -> bool:
    """Whether `redact` would change the text.

    >>> holds_secret("PIN is 4821"), holds_secret("I forgot my password")
    (True, False)
    """
    return bool(find_secrets(text))


def holds_only_secrets(text: str) -> bool:
    """Whether nothing of a text is left once its secrets are out."""
    return not regex.sub(r"\W+", "", redact(text).replace(PLACEHOLDER, ""))


def _split(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for piece in text.split(PLACEHOLDER):
        yield start, piece
        start += len(piece) + len(PLACEHOLDER)


def _merge(spans: Iterator[Secret]) -> list[Secret]:
    """The spans in order, those that overlap joined under the kind of the first."""
    merged: list[Secret] = []
    for secret in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and secret.start < merged[-1].end:
            merged[-1] = Secret(merged[-1].start, max(merged[-1].end, secret.end), merged[-1].kind)
        elif secret.end > secret.start:
            merged.append(secret)
    return merged


def _scan(text: str) -> Iterator[Secret]:
    for kind, shape in _SHAPES:
        for match in shape.finditer(text):
            for start, end in match.spans("s") if "s" in shape.groupindex else match.spans():
                yield Secret(start, end, kind)
    searched = 0
    for match in _AWS_ID.finditer(text):
        begin, searched = max(searched, match.start() - _NEAR_AWS), match.end() + _NEAR_AWS
        for secret in _AWS_SECRET.finditer(text, begin, searched):
            yield Secret(*secret.span(), "key")
    for noun in _SEED_NOUN.finditer(text):
        for link in (_LINK.match(text, noun.end()), noun):
            if words := link and _SEED_WORDS.match(text, link.end()):
                yield Secret(words.start("s"), words.start("s") + len(words["s"].rstrip(" ,;\n\t")), "private key")
                break
    yield from _told(text)
    yield from _cards(text)


def _told(text: str) -> Iterator[Secret]:
    """What the words beside it call a password, a key or a code: after the noun, or before it."""
    for name, nouns in _NOUN:
        for noun in nouns.finditer(text):
            for start, end in _beside(text, noun, name):
                yield Secret(start, end, _KIND[name])


def _beside(text: str, noun: regex.Match[str], name: str) -> Iterator[tuple[int, int]]:
    """The spans of the values that belong to one noun."""
    word = noun.group().lower()
    for link in (_NEXT.match(text, noun.end()), _LINK.match(text, noun.end())):
        value = link and _value(text, link, name, word)
        if value:
            break
    more = _LIST if word.endswith(_PLURAL) else _OR
    while value:
        yield value
        link = more.match(text, value[1])
        value = link and _value(text, link, name, word)
    if _NOUN_ENDS.match(text, noun.end()):
        first = _VALUE_FIRST.match(text, max(0, noun.start() - _LOOK_BACK), noun.start())
        if first and first["quoted"]:
            yield first.span("quoted")
        elif first and _is_alone(first["bare"], name):
            yield first.span("bare")


def _value(text: str, link: regex.Match[str], name: str, word: str) -> tuple[int, int] | None:
    """The span of the value that stands after a link, if what stands there looks like one."""
    at, named = link.end(), link.re is _LINK
    firm = named and link["firm"] is not None
    if name == "pin":
        code = _CODE.match(text, at + (text[at : at + 1] in tuple("\"'`“„(«")))
        digits_only = word.startswith(_DIGITS_ONLY)
        if not code or (digits_only and _LETTER.search(code.group())) or _UNIT.match(text, code.end()):
            return None
        return code.span()
    match = _VALUE.match(text, at)
    if not match:
        return None
    if match["bare"] is None:
        return match.span(1) if _is_quoted_value(match[1], name) else None
    value = match["bare"].rstrip(_TRAILING)
    start = match.start("bare")
    end = start + len(value)
    assigned = text[at - 1] == "="
    if not value or value.casefold() in _STOP or _NO_VALUE.fullmatch(value):
        return None
    if name == "key":
        good = _is_key(value, assigned)
    elif not named:
        good = _is_alone(value, name)
    elif value.isdecimal():
        good = len(value) >= _MIN_VALUE and not _UNIT.match(text, end)
    elif _is_mixed(value) or _SYMBOL.search(value):
        good = len(value) >= _MIN_VALUE
    else:
        ends = assigned or _CLAUSE_END.match(text, end) is not None
        good = name == "word" and _is_word(value, firm) and ends
    return (start, end) if good else None


def _is_alone(value: str, name: str) -> bool:
    """Whether a value is plain without a word that leads to it."""
    if name == "pin" and _CODE.fullmatch(value):
        return True
    return len(value) >= _MIN_ALONE and _is_mixed(value) and value.casefold() not in _STOP


def _is_mixed(value: str) -> bool:
    return _LETTER.search(value) is not None and _DIGIT.search(value) is not None


def _is_quoted_value(value: str, name: str) -> bool:
    words = value.casefold().split() or [""]
    if name == "key":
        return len(words) == 1 and len(value) >= 6 and words[0] not in _STOP and not _NO_VALUE.fullmatch(value)
    return words[0] not in _STOP or (len(words) > 1 and _DIGIT.search(value) is not None)


def _is_key(value: str, assigned: bool) -> bool:
    if len(value) < _MIN_KEY or _SPOKEN.search(value):
        return False
    return _is_mixed(value) or len(value) >= _LONG_KEY or (assigned and not _HUMP.search(value))


def _is_word(value: str, firm: bool) -> bool:
    """Whether a value without digits and symbols is odd enough: no word that goes on with the sentence."""
    if _UNSPACED.match(value):
        return firm and not _STOP_CJK.search(value)
    parts = value.casefold().split("-")
    if len(value) < 3 or not all(part.isalpha() for part in parts):
        return False
    if len(parts) >= 4 and min(map(len, parts)) >= 4:
        return True
    return not any(part in _STOP for part in parts) and (firm or (len(parts) == 1 and not _ADJECTIVE.fullmatch(value)))


def _cards(text: str) -> Iterator[Secret]:
    """Card numbers and security codes, and the expiry dates within `_NEAR_CARD` characters of either."""
    blanked = _NOT_CARD.sub(lambda match: "x" * len(match.group()), text)
    anchors = [match.span("s") for match in _CVC.finditer(text)]
    for run in _DIGIT_RUN.finditer(blanked):
        for start, end in _card_numbers(run):
            anchors.append((start, end))
            if after := _AFTER_CARD.match(text, end):
                anchors += after.spans("s")
    anchors.sort()
    yield from (Secret(start, end, "card") for start, end in anchors)
    ends = [end for _, end in anchors]
    for match in _EXPIRY.finditer(text) if anchors else ():
        start, end = match.span("s")
        nearest = bisect_left(ends, start - _NEAR_CARD)
        if nearest < len(anchors) and anchors[nearest][0] <= end + _NEAR_CARD:
            yield Secret(start, end, "card")


def _card_numbers(run: regex.Match[str]) -> Iterator[tuple[int, int]]:
    """The spans in a run of digit groups that are laid out like a card's number and pass its check."""
    body = run.group()
    groups = [match.span() for match in _NUMBER.finditer(body)]
    first = 0
    while first < len(groups):
        sizes: list[int] = []
        best = 0
        for last in range(first, min(first + _MAX_GROUPS, len(groups))):
            start, end = groups[last]
            sizes.append(end - start)
            if sum(sizes) > _MAX_CARD:
                break
            if _is_layout(sizes, whole=len(sizes) == len(groups)) and _is_card(body[groups[first][0] : end]):
                best = last + 1
        if best:
            yield run.start() + groups[first][0], run.start() + groups[best - 1][1]
        first = best or first + 1


def _is_layout(sizes: Sequence[int], whole: bool) -> bool:
    if sum(sizes) < _MIN_CARD:
        return False
    in_fours = all(size == 4 for size in sizes[:-1]) and sizes[-1] <= 4
    return len(sizes) == 1 or in_fours or tuple(sizes[:2]) == (4, 6) or (whole and min(sizes) >= 2)


def _is_card(number: str) -> bool:
    """Whether 13 to 19 digits pass Luhn's check and begin as cards do.

    >>> _is_card("4111111111111111"), _is_card("4111111111111112"), _is_card("350000000000006")
    (True, False, False)

    Source: H. P. Luhn, US patent 2950048 (1960).
    """
    digits = [int(character) for character in reversed(number) if character.isdecimal()]
    # Fifteen digits that begin with 35 or 86 are a telephone's serial number, which passes the same check.
    telephone = len(digits) == 15 and number[:2] not in ("34", "37")
    if telephone or not _MIN_CARD <= len(digits) <= _MAX_CARD or not _ISSUER.match(number):
        return False
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0
