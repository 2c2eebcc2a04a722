"""What stands where a name of somebody, a place, a firm or a trade stands, and is none: pure data for `statements`."""

# Of a trade, by how its name ends in English, and what ends so and is none.
TRADE_ENDINGS = (
    "er|or|ist|ian|ant|eer|ess|man|woman|nurse|clerk|chef|cook|lead|head|intern|trainee|analyst|doctor|vet|pilot"
)
NO_TRADES = (
    "member customer subscriber user regular fan patient volunteer visitor resident beginner newcomer prisoner player"
    " owner believer supporter follower donor tenant guest stranger speaker reader lover partner shareholder investor"
    " super better number participant consultant-to ancestor factor"
)
# People move to these too, but do not live there.
NOT_PLACES = (
    "slack teams linux windows macos mac ubuntu debian gmail outlook github gitlab jira notion python rust go java kotlin"
    " typescript postgres postgresql mysql aws azure gcp kubernetes docker chrome firefox safari zoom android ios iphone"
    " spotify netflix sales marketing engineering finance hr management support product research operations zephyr"
    " discord whatsapp signal telegram excel vim emacs neovim vscode fedora cloud terraform react vue angular django"
)
# Said of people with a capital letter, and no names.
NOT_NAMES = (
    "vegan vegetarian catholic muslim jewish buddhist hindu atheist protestant gay lesbian autistic deaf blind pregnant"
    " angry nice great away ill sick dead late busy here there home married single divorced retired"
)
# Days, feasts and the like, which have a capital letter in English and are no names.
NOT_THINGS = (
    "christmas easter hanukkah ramadan thanksgiving weekend weekends night navidad weihnachten ostern noel natale pasqua"
    " sweatpants affitto mucho team"
)
# In German nouns have capitals: by such an ending, or as such a word, "Arzt" is no name; a Peter is left to the model.
GERMAN_NOUN = r"^\p{L}*(?:er|in|or|ist|ant|ent|eur|ling|frau|mann|arzt|koch|wirt|idiot|klasse|krank|gold|spitze|engel|profi|fan|klug)$"
# "German", "Portuguese", "Danish" are no names of people; "Ian" and "Christian" are, and are left to the model.
OF_A_PEOPLE = (
    r"^(?:\p{L}+(?:ese|ish)|german|italian|american|russian|french|dutch|greek|swiss|czech|thai|indian|mexican|brazilian"
    r"|canadian|australian|austrian|belgian|norwegian|ukrainian|korean|deutsche?r?|italiener\w*)$"
)
# A part of a firm or a building, as the first or last word of a name: neither an employer nor a home.
PARTS = "team squad büro abteilung equipo équipe squadra hause"
# What somebody is rather than is called, beside the nouns of relations: "CEO", "Directora", "Président".
TITLES = r"^(?:c\p{L}o|vp|\p{L}+-(?:based|born)|(?:vice-?)?(?:direct|direkt|dirett|presid|präsid|presid|profes|ingenie|manag)\p{L}*)$"
# With these before it a trade is one, however it is written: "Senior Engineer".
RANKS = "senior junior chief deputy head lead vice"
