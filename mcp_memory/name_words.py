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
    r"|canadian|australian|austrian|belgian|norwegian|ukrainian|korean|deutsche?r?|italiener\w*"
    r"|franzosin|spanier\w*|schweizer\w*|osterreicher\w*|pole|polin|turke|russe|russin|brite|britin|grieche|griechin"
    r"|francaise?|allemande?|espagnole?|italienn?e?|anglaise?|portugaise?|chinoise?|suisse|belge|russe|americaine?"
    r"|japonaise?|polonaise?|neerlandaise?|marocaine?|algerienn?e?|tunisienn?e?|bresilienn?e?|canadienn?e?|grec|grecque"
    r"|espanola?|alemana?|italiana?|inglesa?|ingles|frances|francesa|portugues|portuguesa|chino|china|ruso|rusa"
    r"|americano|americana|mexicano|mexicana|argentino|argentina|colombiano|colombiana|peruano|peruana|chileno|chilena"
    r"|venezolano|venezolana|suizo|suiza|belga|polaco|polaca|griego|griega|brasileno|brasilena|japones|japonesa"
    r"|italiano|tedesco|tedesca|spagnolo|spagnola|russo|russa|svizzero|svizzera|polacco|polacca|greco|greca|brasiliano"
    r"|brasiliana|messicano|messicana|austriaco|austriaca)$"
)
# A part of a firm or a building, as the first or last word of a name: neither an employer nor a home.
PARTS = "team squad büro abteilung equipo équipe squadra hause"
# What somebody is rather than is called, beside the nouns of relations: "CEO", "Directora", "Président".
TITLES = r"^(?:c\p{L}o|vp|\p{L}+-(?:based|born)|(?:vice-?)?(?:direct|direkt|dirett|presid|präsid|presid|profes|ingenie|manag)\p{L}*)$"
# With these before it a trade is one, however it is written: "Senior Engineer".
RANKS = "senior junior chief deputy head lead vice"
# Where a place could stand as well ("trabajo en", "lavoro in"), only these are firms: by a sign of it, or well known;
# "/" stands between two.
FIRM_SIGNS = (
    r"^(?!(?:USA|UK|UE|EU|EEUU|NYC|LA|CDMX|DF|DC|UAE|GB|BCN)$)\p{Lu}{2,5}$"
    r"|(?i)(?<!\p{L})(?:inc|ltd|llc|gmbh|ag|s\.?a|s\.?l|s\.?r\.?l|s\.?p\.?a|corp|group|grupo|gruppo|banco|banca|bank|labs"
    r"|software|systems|technologies|universidad|università|hospital|ospedale|clínica|clinica|ministerio|ministero"
    r"|ayuntamiento|comune|instituto|istituto|editorial|telecom)(?!\p{L})\.?"
)
FIRMS = (
    "siemens/bosch/google/amazon/microsoft/apple/meta/facebook/netflix/ibm/intel/nvidia/oracle/sap/adobe/spotify/uber"
    "/airbnb/tesla/toyota/ford/seat/volkswagen/audi/mercedes/fiat/ferrari/lamborghini/ducati/renault/peugeot/citroën"
    "/michelin/pirelli/ikea/zara/inditex/mango/mercadona/carrefour/lidl/aldi/decathlon/el corte inglés/mcdonald's"
    "/starbucks/nestlé/danone/unilever/coca-cola/pepsi/barilla/ferrero/lavazza/telefónica/movistar/vodafone/orange"
    "/iberdrola/endesa/repsol/eni/enel/santander/bbva/caixabank/sabadell/unicredit/intesa sanpaolo/generali/mapfre"
    "/allianz/axa/deloitte/kpmg/pwc/accenture/capgemini/indra/glovo/cabify/iberia/vueling/ryanair/airbus/boeing/leonardo"
    "/correos/renfe/trenitalia/poste italiane/luxottica/prada/gucci/versace/armani/benetton/philips/nokia/ericsson"
    "/samsung/sony/panasonic/huawei/xiaomi/bayer/novartis/roche/pfizer/basf/thales/safran/cemex/bimbo/pemex/mercado libre"
)
# Cities that people say they begin to work in; "/" stands between two.
CITIES = (
    "madrid/barcelona/valencia/sevilla/zaragoza/málaga/murcia/palma/bilbao/alicante/córdoba/valladolid/vigo/gijón/granada"
    "/vitoria/oviedo/pamplona/san sebastián/santander/salamanca/toledo/cádiz/a coruña/la coruña/girona/tarragona/lleida"
    "/roma/milano/napoli/torino/palermo/genova/bologna/firenze/bari/catania/venezia/verona/padova/trieste/brescia/parma"
    "/modena/pisa/perugia/cagliari/trento/bergamo/rimini/livorno/ferrara/siena/lucca/salerno/ancona/udine/bolzano"
    "/ciudad de méxico/méxico/guadalajara/monterrey/puebla/tijuana/buenos aires/rosario/mendoza/la plata/bogotá/medellín"
    "/cali/cartagena/barranquilla/lima/cusco/arequipa/quito/guayaquil/caracas/maracaibo/santiago/santiago de chile"
    "/valparaíso/montevideo/asunción/la paz/san josé/panamá/managua/san salvador/tegucigalpa/la habana/santo domingo"
    "/miami/nueva york/new york/los ángeles/los angeles/san francisco/chicago/boston/londres/londra/london/parís/parigi"
    "/paris/berlín/berlino/berlin/múnich/monaco/monaco di baviera/münchen/hamburgo/amburgo/hamburg/fráncfort/francoforte"
    "/frankfurt/colonia/köln/viena/vienna/wien/zúrich/zurigo/zürich/ginebra/ginevra/basilea/berna/lugano/bruselas"
    "/bruxelles/ámsterdam/amsterdam/lisboa/lisbona/lisbon/oporto/porto/dublín/dublino/dublin/edimburgo/manchester"
    "/copenhague/copenaghen/estocolmo/stoccolma/oslo/helsinki/praga/varsovia/varsavia/budapest/atenas/atene/moscú/mosca"
    "/tokio/tokyo/pekín/pechino/shanghái/shanghai/dubái/dubai/singapur/singapore/hong kong/sídney/sydney/toronto/montreal"
    "/lyon/lione/marsella/marsiglia/toulouse/tolosa/burdeos/bordeaux/niza/nizza/luxemburgo/lussemburgo"
    "/andalucía/cataluña/galicia/asturias/cantabria/navarra/aragón/extremadura/canarias/toscana/sicilia/sardegna/puglia"
    "/lombardia/piemonte/veneto/liguria/umbria/calabria/campania/lazio/silicon valley"
)
# By its first word a German noun is a car's: "einen Golf" may be ridden, "einen Umweg" not.
MAKES = (
    "vw/volkswagen/audi/bmw/mercedes/opel/porsche/smart/golf/polo/passat/tiguan/corsa/astra/škoda/skoda/seat/cupra/fiat"
    "/alfa/ferrari/lancia/renault/peugeot/citroën/citroen/dacia/ford/tesla/toyota/honda/mazda/nissan/suzuki/subaru"
    "/mitsubishi/lexus/hyundai/kia/volvo/saab/polestar/mini/jaguar/land/range/jeep/chevrolet/chrysler/dodge/lada/byd/mg"
    "/trabant/twingo/clio/fabia/octavia/fiesta/focus/panda/punto/prius/yaris/vespa/yamaha/kawasaki/ducati/ktm"
)
# What stands where a favourite stands, and is none: "the same as yours".
NO_VALUES = (
    "same igual mismo misma derselbe dieselbe dasselbe gleiche même stesso stessa unknown secret obvious different yours hers"
    " his theirs deine deiner deins tuyo tuya tien tienne tuo tua still not hard difficult changing always anders"
    " geheim unbekannt schwer difícil secreto desconocido difficile secret inconnu segreto sconosciuto"
)
# How well or how much of a language somebody speaks.
DEGREES = (
    "a little bit of some fluent fluently good basic native fließend gut etwas ein bisschen wenig un poco peu de po' di"
    " bene bien couramment très muy molto sehr"
)
