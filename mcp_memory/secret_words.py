"""The words of secrets in ten languages: what a value follows, and what is no value. Data only."""

import regex

from .stopwords import STOPWORDS

# What a value follows. A plain word is a value after a "word" only, after the others it must have digits.
NOUNS = {
    "key": r"""(?:api|app|access|secret|private|encryption|signing|master|account|auth)~(?:access~)?(?:key|token|secret)
        (?:client|bot|bearer|refresh|session|security|webhook|storage|service|consumer|shared)~(?:access~)?(?:key|token|secret)
        token secret(?=\\?["'\]]{0,2}\s?[:=]) api~schlüssel zugriffs(?:token|schlüssel) clave_(?:de_)?(?:la_)?api
        clé_(?:d['’])?(?:de_l['’])?api chiave_api chave_(?:d[ea]_)?api (?:api-?)?ключ(?:_api)? токен\p{L}{0,2}
        (?:api_?)?密钥 密鑰 令牌 apiキー トークン シークレット مفتاح_(?:ال)?api رمز_الوصول""",
    "pin": r"""@pins?(?:~(?:code|nummer|number)|码)? @puk @пин(?:-?код)?\p{L}{0,2} @otp @(?-i:TAN) @sms-?codes? 暗証番号
        (?:recovery|backup|2fa|two-factor|mfa|otp|one~time|verification|authenticat(?:ion|or))~(?:code|key)s?
        (?:security|log-?in|sign-?in|access|entry|unlock|door|gate|alarm|lock|safe|garage)~(?:code|combination)s?
        (?:code|combination)_(?:for|to|of)_(?:the|my|our)_(?:\p{L}{1,20}_)?\p{L}{0,9}(?:door|gate|alarm|lock|safe|garage)
        code_für_(?:die|den|das|unsere?n?)_(?:\p{L}{1,20}_)?\p{L}{0,9}(?:tür|tor|alarmanlage|safe|tresor|garage|schloss)
        c[óo]digo_(?:de_la|del|da|do|para_(?:la|el|a|o))_(?:puerta|portal|alarma|caja_fuerte|garaje|porta|portão|alarme|cofre|garagem)
        codes?_(?:de_l['’]|de_la_|du_|pour_l[ae]_)(?:porte|portail|alarme|coffre|immeuble|garage|entrée)
        codice_(?:del(?:la)?_|dell['’]|per_(?:la|il)_)(?:porta|portone|cancello|allarme|cassaforte|garage|ingresso)
        код\p{L}{0,2}_(?:от|для)_(?:двери|подъезда|домофона|сейфа|ворот|сигнализации|гаража) 门[禁锁]?的?(?:代码|码)
        (?:ドア|玄関|金庫|アラーム)の?(?:コード|番号) (?:رمز|كود)_(?:الباب|البوابة|الإنذار|الخزنة) パスコード passcodes?
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
SEED = r"""(?:seed|recovery|backup|secret|mnemonic)~(?:phrase|words)s? mnemonics? wiederherstellungsphrase 助记词
    frase_(?:semilla|di_recupero|de_recupera\p{L}{0,4}|seed) phrase_(?:de_récupération|mnémonique) сид-?фраз[аы]"""
# What a user's name follows, and what a user's name and password follow.
USERNAME = r"""user~names? benutzernamen? nombre_de_usuario nom_d['’]utilisateur identifiant nome_utente
    nome_de_usuário имя_пользователя логин 用户名 账号 ユーザー名 اسم_المستخدم"""
LOGIN = rf"""{USERNAME} @log-?in credentials zugangsdaten anmeldedaten credenciales datos_de_acceso identifiants
    connexion credenziali credenciais ログイン بيانات_الدخول"""
SECURITY_CODE = r"""cvc2? cvv2? @csc card_verification security_code (?:karten)?prüf(?:nummer|ziffer) sicherheitscode
    c[óo]digo_de_segur(?:idad|ança) code_de_sécurité cryptogramme(?:_visuel)? codice_di_sicurezza код_безопасности
    安全码 セキュリティコード رمز_الأمان"""
EXPIRES = r"""@exp\p{L}{0,8} valid_(?:until|thru|through|till|to) good_thru gültig_bis läuft_ab ablauf\p{L}{0,8} caduca
    verfällt vence vencimiento válid[ao]_(?:hasta|até) valable_jusqu scade scadenza valida_fino validade срок 有效期
    到期 действ\p{L}{1,10}_до 有効期限 صالحة_(?:حتى|لغاية) تنتهي انتهاء"""
VERBS = r"""(?:(?:is|was)_)?(?:set|changed|reset)_to is was are will_be equals ist war sind es era son est était è é
    são это был هي هو هى"""
NAMING = r"lautet lauten heißt heisst reads"
NOW = r"""now still currently simply just actually either jetzt noch immer aktuell weiterhin entweder ahora todavía
    sigue maintenant toujours ora adesso agora ainda теперь всё все сейчас الآن"""
PREPOSITIONS = r"""for of to on at in from für zum zur vom von im bei beim an auf der des meine[rs] de[lr]? para pour
    du d['’]\p{L}+ della dell['’]\p{L}+ per do da от для к на из"""

# What goes on with the sentence after "the password is", beside grammar; names of products and of algorithms.
GRAMMAR = frozenset().union(*(STOPWORDS[code] for code in ("en", "de", "es", "fr", "it", "pt", "ru", "ar")))
STOP = GRAMMAR | frozenset(
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
# What no passphrase of several words is made of, beside the words above.
INSTRUCTIONS = frozenset(
    "see ask check use type choose minimum maximum length eleven twelve sixteen siehe voir".split()
)
ADJECTIVE = regex.compile(
    r"\p{Ll}+(?:ed|ing|able|ible|ful|less|ly|ive|ous|bar|lich|ig|los|isch|[ai]d[oa]s?|[au]t[oai]|ée?s?|ый|ой|ая|ое|ые"
    r"|[аеёя]нн?[аоы]?|ят)|(?:(?:ab|an|auf|aus|ein|hinter|zurück)?ge|ver|be|ent|er|zer)\p{Ll}+(?:t|en)"
)
STOP_CJK = regex.compile(
    r"[错錯不没沒必忘需未请請空太已对對存弱强違変長短]|什[么麼]|正确|設定|入力|です|ます|した|下さい|なし"
)


def any_of(table: str) -> str:
    """An alternation of a table's patterns, in which `_` is a space, `~` a joint and `@` the edge of a word."""
    joined = "|".join(table.split()).replace("_", r"[ \u00a0]").replace("~", "[ \\x5f-]?")
    return joined.replace("@", r"(?<![\p{Latin}\p{Cyrillic}\p{N}])")
