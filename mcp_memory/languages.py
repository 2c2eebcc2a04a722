"""What is known of each language, for reading what people say and checking what a model made of it. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Words of one language, lower case; `~` marks a string that is looked for inside words, `-` one at their end."""

    name: str
    user: tuple[str, ...]
    first_person: frozenset[str]
    # Of those, the ones of who is addressed or helped: "tell me", "for us".
    objects: frozenset[str]
    # Who is spoken of, as the subject.
    others: frozenset[str]
    # What a model says of the user in place of a question: "the user is looking for".
    wants: frozenset[str]
    negations: frozenset[str]
    conjunctions: frozenset[str]
    # Words of which a reply without content is made.
    courtesies: frozenset[str]
    numbers: Mapping[str, int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbers(text: str) -> Mapping[str, int]:
    """Number words from one to twelve, in order, spellings of one number joined by `/`."""
    return {word: place for place, group in enumerate(text.split(), 1) for word in group.split("/")}


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        "English",
        ("the user", "user"),
        _words("i i'm i've i'd i'll im ive me my mine myself we we're we've we'll us our ours"),
        _words("me us"),
        _words("he she they he's she's they're"),
        _words("want wants wanted need needs needed looking seeks seeking wishes wondering planning trying searching"),
        _words("not no never none nobody nothing neither nor cannot without nowhere ~n't ~n’t dont doesnt didnt isnt"),
        _words("but and because although while so or"),
        _words(
            "thanks thank you thx ty cheers ok okay k yes yep yeah yup no nope great cool nice perfect deal lol haha"
            " hahaha sure fine good bye hi hello hey wow awesome lovely super so much very please pls will do ttyl"
        ),
        _numbers(
            "one/once/a/an/first two/twice/both/second three/third four/fourth"
            " five six seven eight nine ten eleven twelve"
        ),
    ),
    "de": Language(
        "German",
        ("der nutzer", "des nutzers", "dem nutzer", "den nutzer", "nutzer", "der benutzer", "benutzer"),
        _words("ich mich mir mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren unserer"),
        _words("mir mich uns"),
        _words("er"),
        _words("möchte will braucht sucht wünscht plant"),
        _words("nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder nirgends"),
        _words("aber und weil obwohl während sondern oder"),
        _words(
            "danke dankeschön vielen dank ok ja nein gut super prima toll passt klar genau hallo hi tschüss bis bald so"
            " bitte gerne sehr perfekt"
        ),
        _numbers(
            "ein/eine/einen/einem/einer/eins zwei/beide/beiden drei vier fünf sechs sieben acht neun zehn elf zwölf"
        ),
    ),
    "es": Language(
        "Spanish",
        ("el usuario", "al usuario", "del usuario", "usuario"),
        _words(
            "yo me mi mis mí mío mía conmigo nosotros nosotras nos nuestro nuestra ~oy ~engo llevo vivo trabajo -é -í"
        ),
        _words("me mí nos conmigo -ame -eme"),
        _words("él ella ellos ellas"),
        _words("quiere necesita busca desea"),
        _words("no nunca jamás nada nadie ningún ninguna ninguno tampoco sin ni"),
        _words("pero y porque aunque mientras sino o"),
        _words(
            "gracias muchas vale ok sí si no genial perfecto hola adiós hasta luego jaja jajaja buenas muy bien claro"
        ),
        _numbers("un/una/uno dos/ambos tres cuatro cinco seis siete ocho nueve diez once doce"),
    ),
    "fr": Language(
        "French",
        ("l'utilisateur", "l’utilisateur", "utilisateur"),
        _words("je ~j' ~j’ me ~m' ~m’ moi mon ma mes nous notre nos"),
        _words("me ~m' ~m’ moi nous"),
        _words("il elle ils elles"),
        _words("veut voudrait souhaite cherche besoin"),
        _words("ne ~n' ~n’ pas jamais rien personne aucun aucune sans ni plus"),
        _words("mais et car parce quoique pendant ou"),
        _words("merci beaucoup ok oui non super parfait génial bonjour salut coucou mdr très bien d'accord"),
        _numbers("un/une deux trois quatre cinq six sept huit neuf dix onze douze"),
    ),
    "it": Language(
        "Italian",
        ("l'utente", "l’utente", "all'utente", "utente"),
        _words("io mi me mio mia miei mie noi ci nostro nostra sono ho vivo lavoro"),
        _words("mi me ci noi"),
        _words("lui lei loro"),
        _words("vuole vorrebbe cerca desidera bisogno"),
        _words("non mai niente nulla nessuno nessuna senza né neanche"),
        _words("ma e perché anche mentre però o"),
        _words("grazie mille ok sì no perfetto ciao ahah ahaha ahahah bene benissimo va notte buonanotte"),
        _numbers("un/una/uno due/entrambi tre quattro cinque sei sette otto nove dieci undici dodici"),
    ),
    "pt": Language(
        "Portuguese",
        ("o usuário", "ao usuário", "do usuário", "usuário", "o utilizador", "utilizador"),
        _words("eu me mim meu minha meus minhas comigo nós nosso nossa sou estou tenho moro trabalho -ei"),
        _words("me mim nos comigo"),
        _words("ele ela eles elas"),
        _words("quer precisa procura deseja"),
        _words("não nunca jamais nada ninguém nenhum nenhuma sem nem"),
        _words("mas e porque embora enquanto porém ou"),
        _words("obrigado obrigada valeu demais ok sim não show perfeito oi olá tchau kkk muito bem"),
        _numbers("um/uma dois/duas/ambos três quatro cinco seis sete oito nove dez onze doze"),
    ),
    "ru": Language(
        "Russian",
        ("пользователь", "пользователя", "пользователю", "пользователем"),
        _words(
            "я меня мне мной мной мой моя моё мои моего моей моему моих мою мы нас нам наш наша наши"
            " буду могу вижу хочу живу работаю"
        ),
        _words("мне меня мной нам нас"),
        _words("он она они"),
        _words("хочет нужен нужна нужно ищет просит"),
        _words("не нет ни никогда ничего никто никого без нельзя"),
        _words("но и потому хотя пока а или"),
        _words("спасибо большое ок да нет отлично хорошо супер привет пока договорились"),
        _numbers(
            "один/одна/одно/одну два/две/оба три четыре пять шесть семь восемь девять десять одиннадцать двенадцать"
        ),
    ),
    "zh": Language(
        "Chinese",
        ("用户",),
        _words("~我 ~咱"),
        _words(""),
        _words("他 她"),
        _words("~想 ~需要 ~希望"),
        _words("~不 ~没 ~無 ~无 ~别 ~未 ~非"),
        _words("~但是 ~但 ~而 ~因为 ~不过"),
        _words("谢谢 谢谢你 好 好的 好了 嗯 哈哈 你好 再见 不客气 太好了"),
        _numbers("一 二/两 三 四 五 六 七 八 九 十 十一 十二"),
    ),
    "ja": Language(
        "Japanese",
        ("ユーザー",),
        _words("~私 ~僕 ~俺 ~わたし ~ぼく ~うち ~自分 ~ました ~しています"),
        _words(""),
        _words("彼 彼女 彼は 彼女は"),
        _words("~たい ~必要 ~探し"),
        _words("~ない ~なく ~なかっ ~ません ~ず ~嫌い"),
        _words("~でも ~けど ~が、 ~ので ~しかし"),
        _words("ありがとう ありがとうございます はい いいえ 助かります 了解 了解です こんにちは すみません"),
        _numbers("一 二 三 四 五 六 七 八 九 十 十一 十二"),
    ),
    "ar": Language(
        "Arabic",
        ("المستخدم", "للمستخدم"),
        _words("أنا انا لي عندي نحن لدي -تي -ني"),
        _words("-ني لي"),
        _words("هو هي هم"),
        _words("يريد يحتاج يبحث"),
        _words("لا لم لن ليس ليست غير بدون ما أبدا"),
        _words("لكن و لأن بينما أو"),
        _words("شكرا شكراً جزيلا جزيلاً نعم لا حسنا مرحبا تمام"),
        _numbers(
            "واحد/واحدة اثنان/اثنين/سنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني تسعة/تسع عشرة/عشر"
        ),
    ),
}
