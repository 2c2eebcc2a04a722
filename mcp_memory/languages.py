"""What is known of each language, for reading what people say and checking what a model made of it. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Words of one language, lower case; a `~` before one marks a string that is looked for inside words."""

    name: str
    user: tuple[str, ...]
    first_person: frozenset[str]
    # Of those, the ones of who is addressed or helped: "tell me", "for us".
    objects: frozenset[str]
    # What a model says of the user in place of a question: "the user is looking for".
    wants: frozenset[str]
    negations: frozenset[str]
    conjunctions: frozenset[str]
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
        _words("want wants wanted need needs needed looking seeks seeking wishes wondering planning trying searching"),
        _words("not no never none nobody nothing neither nor cannot without nowhere ~n't ~n’t dont doesnt didnt isnt"),
        _words("but and because although while so or"),
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
        _words("möchte will braucht sucht wünscht plant"),
        _words("nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder nirgends"),
        _words("aber und weil obwohl während sondern oder"),
        _numbers(
            "ein/eine/einen/einem/einer/eins zwei/beide/beiden drei vier fünf sechs sieben acht neun zehn elf zwölf"
        ),
    ),
    "es": Language(
        "Spanish",
        ("el usuario", "al usuario", "del usuario", "usuario"),
        _words("yo me mi mis mí mío mía conmigo nosotros nosotras nos nuestro nuestra ~oy ~engo llevo vivo trabajo"),
        _words("me mí nos conmigo"),
        _words("quiere necesita busca desea"),
        _words("no nunca jamás nada nadie ningún ninguna ninguno tampoco sin ni"),
        _words("pero y porque aunque mientras sino o"),
        _numbers("un/una/uno dos/ambos tres cuatro cinco seis siete ocho nueve diez once doce"),
    ),
    "fr": Language(
        "French",
        ("l'utilisateur", "l’utilisateur", "utilisateur"),
        _words("je ~j' ~j’ me ~m' ~m’ moi mon ma mes nous notre nos"),
        _words("me ~m' ~m’ moi nous"),
        _words("veut voudrait souhaite cherche besoin"),
        _words("ne ~n' ~n’ pas jamais rien personne aucun aucune sans ni plus"),
        _words("mais et car parce quoique pendant ou"),
        _numbers("un/une deux trois quatre cinq six sept huit neuf dix onze douze"),
    ),
    "it": Language(
        "Italian",
        ("l'utente", "l’utente", "all'utente", "utente"),
        _words("io mi me mio mia miei mie noi ci nostro nostra sono ho vivo lavoro"),
        _words("mi me ci noi"),
        _words("vuole vorrebbe cerca desidera bisogno"),
        _words("non mai niente nulla nessuno nessuna senza né neanche"),
        _words("ma e perché anche mentre però o"),
        _numbers("un/una/uno due/entrambi tre quattro cinque sei sette otto nove dieci undici dodici"),
    ),
    "pt": Language(
        "Portuguese",
        ("o usuário", "ao usuário", "do usuário", "usuário", "o utilizador", "utilizador"),
        _words("eu me mim meu minha meus minhas comigo nós nosso nossa sou estou tenho moro trabalho"),
        _words("me mim nos comigo"),
        _words("quer precisa procura deseja"),
        _words("não nunca jamais nada ninguém nenhum nenhuma sem nem"),
        _words("mas e porque embora enquanto porém ou"),
        _numbers("um/uma dois/duas/ambos três quatro cinco seis sete oito nove dez onze doze"),
    ),
    "ru": Language(
        "Russian",
        ("пользователь", "пользователя", "пользователю", "пользователем"),
        _words("я меня мне мной мной мой моя моё мои моего моей моему моих мою мы нас нам наш наша наши"),
        _words("мне меня мной нам нас"),
        _words("хочет нужен нужна нужно ищет просит"),
        _words("не нет ни никогда ничего никто никого без нельзя"),
        _words("но и потому хотя пока а или"),
        _numbers(
            "один/одна/одно/одну два/две/оба три четыре пять шесть семь восемь девять десять одиннадцать двенадцать"
        ),
    ),
    "zh": Language(
        "Chinese",
        ("用户",),
        _words("~我 ~咱"),
        _words(""),
        _words("~想 ~需要 ~希望"),
        _words("~不 ~没 ~無 ~无 ~别 ~未 ~非"),
        _words("~但是 ~但 ~而 ~因为 ~不过"),
        _numbers("一 二/两 三 四 五 六 七 八 九 十 十一 十二"),
    ),
    "ja": Language(
        "Japanese",
        ("ユーザー",),
        _words("~私 ~僕 ~俺 ~わたし ~ぼく ~うち ~自分"),
        _words(""),
        _words("~たい ~必要 ~探し"),
        _words("~ない ~なく ~なかっ ~ません ~ず ~嫌い"),
        _words("~でも ~けど ~が、 ~ので ~しかし"),
        _numbers("一 二 三 四 五 六 七 八 九 十 十一 十二"),
    ),
    "ar": Language(
        "Arabic",
        ("المستخدم", "للمستخدم"),
        _words("أنا انا لي عندي نحن لدي ~تي ~ني"),
        _words("~ني لي"),
        _words("يريد يحتاج يبحث"),
        _words("لا لم لن ليس ليست غير بدون ما أبدا"),
        _words("لكن و لأن بينما أو"),
        _numbers(
            "واحد/واحدة اثنان/اثنين/سنتين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني تسعة/تسع عشرة/عشر"
        ),
    ),
}
