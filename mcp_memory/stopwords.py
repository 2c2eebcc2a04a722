"""Words that carry grammar rather than meaning, by language.

They serve twice: left out of the keyword index, and as evidence of the language a text is written in.
"""

from collections.abc import Mapping

_LISTS = {
    "en": """
        a about after all also am an and any are as at be been before being but by can could did do does doing
        for from had has have having he her hers him his how i if in into is it its just me might more most my
        no nor not of off on or our ours out over own shall she should so some such than that the their theirs
        them then there these they this those through to too under until up us very was we were what when where
        which while who whom whose why will with would you your yours""",
    "de": """
        aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der
        des dich die dies diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er
        es etwas euch euer für gegen hab habe haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer im in ist ja jede jeden jeder jedes kann kein keine keinen können man mein meine meinem meinen
        meiner meines mich mir mit muss nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner
        sich sie sind so über um und uns unser unsere unter vom von vor wann warum war waren was weil welche wem
        wen wenn wer werde werden wie wieder will wir wird wo woher wohin würde zu zum zur""",
    "es": """
        a al algo ante antes aquí así aunque bajo cada como cómo con contra cual cuál cuando cuándo de del desde
        donde dónde dos e el él ella ellas ellos en entre era eres es esa ese eso esta está están estaba estas este
        esto estos estoy fue fui ha había han hasta hay he la las le les lo los más me mi mis mí mucho muy ni no nos
        nosotros nuestra nuestro o os para pero por porque qué que quien quién se sea ser si sí sin sobre son soy
        su sus también tan te tiene tengo ti tu tus tú un una unas uno unos usted va y ya yo""",
    "fr": """
        a à ai ainsi après as au aussi autre aux avait avant avec avez avoir avons c ce cela ces cet cette ceux
        chez comme comment d dans de des donc dont du elle elles en encore entre es est et été être eu eux fait
        fut il ils j je l la le les leur leurs lui m ma mais me même mes moi mon n ne ni non nos notre nous on ont
        ou où par pas peu plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si
        son sont suis sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y""",
    "it": """
        a ad agli ai al alla alle allo anche anni c che chi ci come con cosa cui d da dagli dai dal dalla dalle
        dei del della delle dello di dove e è ed era ero fa fra gli ha hai hanno ho i il in io l la le lei li lo
        loro lui ma me mi mia mie miei mio ne negli nei nel nella nelle no noi non nostra nostro o per perché più
        quale quando quanto quella quelle quelli quello questa queste questi questo qui s se sei si sì sia sono
        sta su sua sue sugli sui sul sulla suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi vostro""",
    "pt": """
        a à ao aos as às até como da das de dela dele deles do dos e é ela elas ele eles em entre era essa
        esse esta está estão estava este eu foi fui há isso isto já lhe mais mas me meu meus minha minhas muito
        na não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque qual
        quando que quem são se sem ser será seu seus só sou sua suas também te tem tenho teu toda todo tua um
        uma umas uns você vocês""",
    "nl": """
        aan al alle als altijd ben bent bij daar dan dat de deze die dit doen door dus een en er geen had hadden
        heb hebben heeft hem het hier hij hoe hun ik in is je jij jou jouw jullie kan kunnen maar me meer met mij
        mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over te tegen toch toen tot u uit
        uw van veel voor waar waarom wanneer want waren was wat we wel welke werd wie wij wil worden zal ze zich
        zij zijn zo zonder zou""",
    "sv": """
        alla alltid än är att av bara blev bli blir de dem den denna deras dess det detta dig din dina ditt du där
        efter ej eller en ett för från ha hade han hans har hennes henne hon honom hur här i inte ja jag kan med
        mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina
        skulle som så till under upp ut utan vad var vara varför vem vi vid vilken vår våra åt över""",
    "da": """
        af alle at blev blive da de dem den denne der deres det dette dig din dine dit du efter eller en end er
        et for fra ha han hans har havde hende hendes her hun hvad hvem hver hvor hvordan hvorfor i ikke ind jeg
        kan man med meget men mig min mine mit mod ned noget nogle nu når og også om op os over på sig sin sine
        skal som så til ud under var vi vil ville vor være""",
    "nb": """
        alle at av ble bli da de deg dem den denne der deres det dette di din du eller en enn er et etter for fra
        ha hadde han hans har henne hennes her hun hva hvem hver hvor hvordan hvorfor i ikke jeg kan man med meg
        men mer mitt min mine mot når noe noen nå og også om opp oss over på seg sin skal som så til under ut var
        vi vil ville være vår""",
    "pl": """
        a ale bardzo bez bo by być był była było były ci cię co czy dla do gdy gdzie go i ich ile im ja jak jako
        je jego jej jest jestem jeszcze już kiedy kto który która które lub ma mam mi mnie moja moje mój może my na
        nad nam nas nasz nie nich nim niż o od ona one oni ono oraz po pod przed przez przy są się skąd swój ta tak
        także tam te tego tej ten to tu twój ty tylko u w we więc wy z za ze że""",
    "cs": """
        a aby ale ani až bez bude by byl byla bylo být co do jak jako já je jeho její jejich jen jestli ještě již
        jsem jsi jsme jsou k kam kde kdo když který která které má mám mé mě mi mít mně moje můj na nad nebo není
        než o od on ona oni po pod podle pro proč proto před při s se si svůj ta tak také tam ten tento to tu ty u
        už v ve však z za ze že""",
    "tr": """
        ama ancak bana ben beni benim bir biri biz bizim bu bunu çok çünkü da daha de değil diye en gibi hangi
        hem hep her hiç için ile ise kadar ki kim mi mu mü mı nasıl ne neden nerede o olan olarak oldu olduğu
        onlar onu onun sen seni senin siz sonra şey şu var ve veya ya yok""",
    "id": """
        ada adalah agar akan aku anda apa atau bagaimana bahwa banyak bisa dalam dan dari dengan di dia ia ini
        itu juga kamu karena ke kita lagi lebih mana mereka oleh pada saat saya sebagai sebuah siapa sudah tapi
        telah tidak untuk yang""",
    "ru": """
        а без более бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть
        еще ещё же за здесь и из или им их к как какой когда который кто ли меня мне мной мой моя моё мои мы на над
        нам нас наш не него нее неё нет ни них но о об он она они оно от очень по под при про с свой себя сейчас со
        так также там тебя то того тоже только тот ты у уже чего чем что чтобы эта эти это этот я""",
    "uk": """
        а або але був була були було бути в вам вас ви від він вона вони воно все всі де для до ж за з зі і із її їй
        їм їх й його як який яка яке які коли кого мене мені мій моя моє мої ми на над нам нас наш не немає ні о
        об під по при про та так також там те ти тільки то той у це цей ця чи чого чому що щоб я""",
    "fa": """
        از است اما ام او این اینجا آن آنها آیا با باید بر برای بود بودم به بی تا تو چرا چه چون چی خود خیلی در
        دارم دارد دارند را رو شد شما شده که کجا کدام کسی کی کنم کند ما من می نه نیست ها هر هست هستم هم همه و وقتی
        ولی یا یک""",
    "ar": """
        أن أنا أنت أو أي أين إذا إلا إلى إن التي الذي الذين اللذين اليوم ان انا او اي الى بعد بل به بها بين تلك ثم
        جدا حتى حيث ذلك سوف عليه عليها على عن عند عندما عندي غير في فيه فيها قبل قد كان كانت كل كما كم كيف لا لقد
        لكن لم لماذا لن له لها لي ليس ما ماذا متى مع من منذ منه منها نحن هذا هذه هل هم هنا هناك هو هي و وكان ولا
        يا يكون""",
    "zh": "的 了 是 在 我 你 他 她 它 们 这 那 和 与 也 都 就 不 吗 呢 吧 啊 什 么 有 个",
    "ja": "の に は を た が で て と し れ さ も な い か ら す る こ そ よ",
}

STOPWORDS: Mapping[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _LISTS.items()}
