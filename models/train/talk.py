"""Sentences of everyday speech and of the game: talk.py OUT.jsonl COUNT SEED

The templates of corpus.py have many words but few of the small words between them
(while you were, has not been, and it is), which determine the teacher's melody.
This script combines clauses of such words, and fills the texts of game/call with
names. None is a sentence of the test sets. The same seed gives the same sentences.
"""

import json
import os
import random
import re
import sys

from phonemes import Espeak

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 130  # characters

# base, past, participle, ing, and what may follow
VERBS = """
open opened opened opening|THING
close closed closed closing|THING
find found found finding|THING
lose lost lost losing|THING
bring brought brought bringing|THING WHERE
take took taken taking|THING WHERE
leave left left leaving|THING WHERE
put put put putting|THING WHERE
move moved moved moving|THING WHERE
hear heard heard hearing|THING
see saw seen seeing|THING WHERE
watch watched watched watching|THING
make made made making|THING
buy bought bought buying|THING
break broke broken breaking|THING
fix fixed fixed fixing|THING
clean cleaned cleaned cleaning|THING
carry carried carried carrying|THING WHERE
want wanted wanted wanting|THING
like liked liked liking|THING
know knew known knowing|THING
use used used using|THING
hold held held holding|THING
throw threw thrown throwing|THING WHERE
catch caught caught catching|THING
drop dropped dropped dropping|THING WHERE
wash washed washed washing|THING
read read read reading|THING
write wrote written writing|THING
paint painted painted painting|THING
enjoy enjoyed enjoyed enjoying|THING
give gave given giving|WHOM THING
show showed shown showing|WHOM THING
tell told told telling|WHOM about THING
ask asked asked asking|WHOM about THING
call called called calling|WHOM
help helped helped helping|WHOM with THING
thank thanked thanked thanking|WHOM for THING
look looked looked looking|at THING
listen listened listened listening|to THING
wait waited waited waiting|for WHOM WHERE
talk talked talked talking|to WHOM about THING
think thought thought thinking|of THING
walk walked walked walking|WHERE
go went gone going|WHERE
come came come coming|home with WHOM
run ran run running|WHERE
sit sat sat sitting|WHERE
sleep slept slept sleeping|WHERE
live lived lived living|WHERE
work worked worked working|WHERE
play played played playing|with WHOM WHERE
turn turned turned turning|THING off
pick picked picked picking|THING up
"""
VERBS = [(forms.split(), rest) for forms, rest in (line.split("|") for line in VERBS.strip().splitlines())]

SINGULAR = """he|she|it|nobody|somebody|everybody|everyone|someone|my mother|my father|her sister|his brother|our neighbor|the boy
the girl|the baby|the dog|the cat|the teacher|the doctor|the mailman|the whole family|one of them|that man|this woman|grandma""".replace("\n", "|").split("|")
PLURAL = """I|you|we|they|you|we|the children|people|the neighbors|my friends|our guests|some of us|most of you|all of them
both of the girls|those boys|the players|the fans|my parents|his cousins""".replace("\n", "|").split("|")
WHOM = "me|you|him|her|us|them|everyone|nobody|the children|my mother|his sister|the neighbors|our guests|your father|a friend of mine".split("|")
NAMES = """Johnson|Martinez|Ramirez|Williams|O'Brien|Kowalski|Garcia|Nguyen|Peterson|Brown|Jackson|Tanaka|Sanchez|Miller|Washington|Cooper
Hernandez|Fitzgerald|Park|Robinson|Schmidt|Rossi|Murphy|Bell|Gonzalez|Young|Baker|Delgado|Fisher|Hughes""".replace("\n", "|").split("|")
FIRST = """Margaret|Robert|Linda|David|Susan|Anna|Charles|Elizabeth|Benjamin|Laura|Samuel|Victoria|Oliver|Grace|Matthew|Ella|Nathan|Ruth|Arthur|Clara""".split("|")
NOUNS = """car|bicycle|book|letter|song|picture|movie|story|game|ball|glove|bat|box|bag|cup|plate|glass|bottle|spoon|knife|jar|table|chair|bed
couch|shelf|door|window|lamp|light|radio|phone|camera|clock|key|map|ticket|coat|jacket|hat|shirt|shoe|umbrella|pillow|blanket|towel|carpet|curtain
apple|orange|sandwich|cookie|cake|pie|soup|salad|fish|chicken|egg|bread|cheese|coffee|tea|milk|juice|water|garden|flower|tree|bush|fence|gate|path
boat|train|bus|truck|bridge|river|lake|beach|hill|mountain|field|park|school|church|library|store|office|house|toy|doll|puzzle|drum|guitar|piano
engine|machine|battery|button|switch|wire|pipe|hammer|nail|ladder|rope|bucket|broom|question|answer|idea|plan|problem|reason|noise|voice|smell|mess""".replace("\n", "|").split("|")
ADJECTIVES = """old|new|big|little|long|short|heavy|light|dark|bright|shiny|dirty|clean|wet|dry|warm|cold|hot|cool|soft|hard|quiet|loud|noisy|quick
slow|easy|funny|strange|beautiful|ugly|pretty|nice|good|bad|better|best|whole|other|same|next|last|first|second|third|red|blue|green|yellow|purple
white|black|brown|gray|round|square|thick|thin|empty|full|broken|favorite|lovely|terrible|wonderful|enormous|tiny|golden|wooden|broad|delicious""".replace("\n", "|").split("|")
DETERMINERS = "the|the|the|the|a|a|my|your|his|her|our|their|this|that|another|every|each|some|no".split("|")
PLACES = """in the kitchen|in the garden|on the table|at the lake|near the mailbox|by the door|behind the house|under the bed|on the second floor
at school|at home|in the yard|across the street|around the corner|next to the garage|over there|on the corner|at the top of the stairs|in the car
outside|upstairs|downstairs|in the other room|on the shelf|in front of the house|between the two chairs|along the river|into the basement|up the hill""".replace("\n", "|").split("|")
TIMES = """yet|today|tonight|again|now|right now|already|this morning|this afternoon|tomorrow|yesterday|on Sunday|last night|next week|in July|in May
in ten minutes|in about an hour|for more than five minutes|for a while|at noon|at half past eight|before dinner|after lunch|since Monday|every day
all day long|once more|twice a week|at the moment|for the first time|as well|too|very soon|just in time|so far|in the end""".replace("\n", "|").split("|")
JOIN = """and|and|but|so|because|while|when|although|before|after|until|if|since|unless|as soon as|even though|as long as|whether|or|where""".split("|")
MODALS = """can|could|will|would|should|must|might|may|cannot|could not|will not|would not|should not|must not|can't|won't|wouldn't|has to|had to
used to|is going to|was going to|is about to|will have to|ought to|did not|didn't|never did""".replace("\n", "|").split("|")
GREETINGS = """Good morning|Good evening|Good afternoon|Good night|Hello|Welcome home|Happy birthday|Thank you|Excuse me|I'm sorry|Attention, please
Come in|Listen|Well done|Congratulations|Ladies and gentlemen|Dear guests|Boys and girls|Oh no|Of course|All right|By the way|As you know""".replace("\n", "|").split("|")
WARNINGS = "Warning|Caution|Reminder|Attention|Notice|Remember this|One more thing|The answer is this|The latest news|Please note".split("|")
BALLPARK = """there is a pitching change|there is a drive to deep left|that one is gone|it is way back and out of here|that was a fast ball on the inside corner
the pitch is low and away for ball two|he is safe at first by half a step|he is out by ten feet|the crowd is on its feet|it is a brand new ball game
the bases are full of them|this is the tying run|here comes the manager out of the dugout|he goes down swinging|that is the second out of the inning
the throw to the plate is not in time|the left fielder goes back to the wall|it drops in front of him for a single|he looks at a called strike three
a sharp grounder through the right side|a high pop fly into foul territory|both runners move up on the bunt|they turn it around the horn for two
a line shot over the glove of the second baseman|the winning run comes home from third|the go ahead run is at the plate|they have left two men on base
the umpire has a word with the catcher|a check swing and the count is full|he is hitting three hundred and twenty with nine home runs
the curve ball was in the dirt|the shortstop cannot find the handle|that is his third hit of the day|a walk will load the bases""".split("\n")
GREETED = "everyone|everybody|my friends|sir|children|ladies|you two".split("|")
AT_BAT = "is up|steps in|takes a lead|is on deck|swings and misses|looks in for the sign".split("|")
CLUBS = "Chicago|Boston|the Cubs|the Mets|Detroit|the Giants|Saint Louis|the Twins|Houston|the home team|the visitors".split("|")

out, count, seed = sys.argv[1:]
R = random.Random(int(seed))


def pick(words):
    return R.choice(words)


def thing():
    determiner = pick(DETERMINERS)
    described = (pick(ADJECTIVES) + " " if R.random() < 0.45 else "") + pick(NOUNS)
    if R.random() < 0.15:
        described += f" of {pick(DETERMINERS[:5])} {pick(NOUNS)}"
    if determiner == "a" and described[0] in "aeiou":
        determiner = "an"
    if R.random() < 0.08:
        return f"{pick(['one', 'some', 'all', 'none', 'most', 'two', 'half'])} of the {described}s"
    return f"{determiner} {described}"


def rest(pattern):
    fill = {"THING": thing, "WHOM": lambda: pick(WHOM), "WHERE": lambda: pick(PLACES)}
    return " ".join(fill[w]() if w in fill else w for w in pattern.split())


def clause():
    """A subject with a verb phrase in one of several tenses."""
    (base, past, participle, ing), pattern = pick(VERBS)
    one = R.random() < 0.5
    who = pick(SINGULAR) if one else pick(PLURAL)
    if R.random() < 0.12:
        one, who = True, pick(NAMES + FIRST)
    be = "am" if who == "I" else "is" if one else "are"
    were = "was" if one or who == "I" else "were"
    have = "has" if one else "have"
    did = pick([  # all are made, so that the draws stay the same
        f"{past} {rest(pattern)}", f"{past} {rest(pattern)}", f"{pick(MODALS)} {base} {rest(pattern)}",
        f"{be} {ing} {rest(pattern)}", f"{were} {ing} {rest(pattern)}", f"{were} not {ing} {rest(pattern)}",
        f"{have} {participle} {rest(pattern)}", f"{have} not {participle} {rest(pattern)}", f"{have} been {ing} {rest(pattern)}",
        f"{were} {pick(['too', 'very', 'so', 'not', 'really', 'almost', 'never'])} {pick(ADJECTIVES)}",
    ])  # fmt: skip
    if R.random() < 0.12:
        who, did = thing(), f"{pick(['is', 'was', 'has been', 'has not been', 'had to be', 'will be', 'could be', 'is being'])} {participle}"
    if R.random() < 0.12:
        who, did = pick(["there", "here"]), f"{pick(['is', 'was', 'will be'])} {thing()} {pick(PLACES)}"
    if R.random() < 0.15:
        did = f"{pick(['usually', 'always', 'never', 'just', 'also', 'finally', 'probably', 'often', 'only', 'quickly'])} {past} {rest(pattern)}"
    return f"{who} {did}" + (" " + pick(TIMES) if R.random() < 0.4 else "")


def order():
    (base, *_), pattern = pick(VERBS)
    start = pick(["", "please ", "don't ", "remember to ", "do not forget to ", "let's ", "try to ", "you may ", "time to ", "never "])
    return f"{start}{base} {rest(pattern)}" + (" " + pick(TIMES) if R.random() < 0.3 else "")


def called():
    s = pick(BALLPARK)
    if R.random() < 0.5:
        s = f"{pick(NAMES)} {pick(AT_BAT)}, {pick(['and', 'but', 'now', 'as'])} {s}"
    return s


def joined():
    join = pick(JOIN)
    if R.random() < 0.7:
        return f"{clause()}{pick([' ', ', '])}{join} {clause()}"
    return f"{'if' if join in ('and', 'or', 'but', 'so') else join} {clause()}, {clause()}"


def one():
    x = R.random()
    if x < 0.3:
        return clause()
    if x < 0.5:
        return joined()
    if x < 0.6:
        return f"{pick(GREETINGS)}, {pick(FIRST + GREETED)}, {pick([clause, order])()}"
    if x < 0.66:
        return f"{pick(WARNINGS)}: {pick([clause, order])()}"
    if x < 0.72:
        return f"{pick([clause, order])()}{pick([', please', ''])}; {pick([clause, order])()}"
    if x < 0.8:
        return order() + pick(["", ", please", f", {pick(FIRST)}", ", and " + order()])
    if x < 0.92:
        return called()
    return f"{clause()}, {pick(['and', 'but'])} {called()}"


def end(sentence):
    sentence = sentence[0].upper() + sentence[1:]
    return sentence + pick([".", ".", ".", ".", ".", ".", "!"])


def calls():
    """The texts of the game with filled gaps."""
    with open(os.path.join(HERE, "../../game/call/english.txt"), encoding="utf-8") as f:
        book = f.read()
    lists = dict(re.findall(r"(?m)^(\S+) = (.+)$", book))
    words = {name: some.split(" | ") for name, some in lists.items()}
    numbers, ordinals, bases = words["numbers"], words["ordinals"][1:13], words["bases"][1:]
    where = [some for name, some in lists.items() if name.startswith("to.")]
    fill = {
        **dict.fromkeys(["to", "at"], where),
        **dict.fromkeys(["base", "from"], bases),
        **dict.fromkeys(["inning", "inningswords"], ordinals),
        **dict.fromkeys(["hi", "awayruns", "homeruns"], numbers),
        **dict.fromkeys(["club", "leader", "trailer", "home", "away", "winner", "loser"], CLUBS),
        "bases": [some for name, some in lists.items() if name.startswith("on.")],
        "chain": ["short to second to first", "third to first", "second to first"],
        "count": numbers[:4],
        "countwords": ["two and one"],
        "errors": ["no errors"],
        "fielder": words["positions"][1:],
        "gap": ["left center"],
        "half": words["halves"],
        "hits": ["six hits", "one hit"],
        "innings": numbers[1:],
        "left": ["one left on base"],
        "lo": numbers[:8],
        "n": numbers[2:],
        "outs": words["outs"],
        "place": words["places"][1:],
        "position": words["positions"],
        "runs": ["two runs", "no runs"],
        "scorewords": ["three to one", "two to nothing"],
    }
    for text in re.findall(r"(?m)^\s+(?:both|speak) (.+)$", book):
        text = text.replace("[", "").replace("]", "") if R.random() < 0.7 else re.sub(r"\[[^]]*\]", "", text)
        said = re.sub(r"\{([^}]*)\}", lambda m: pick(fill.get(m.group(1), NAMES)), text).strip()
        if said:
            yield said[0].upper() + said[1:]


def main():
    sets = set()
    for name in "abc":
        with open(f"{HERE}/sets/{name}.txt", encoding="utf-8") as f:
            sets.update(line.strip() for line in f)
    said = list(dict.fromkeys(calls()))
    sentences, seen = [], set(sets)
    while len(sentences) < int(count):
        s = said.pop() if said else end(one())
        if s not in seen and len(s) <= LONGEST:
            seen.add(s)
            sentences.append(s)
    R.shuffle(sentences)
    espeak = Espeak()
    with open(out, "w", encoding="utf-8") as f:
        for i, s in enumerate(sentences):
            row = {"id": f"t{i:05d}", "text": s, "phonemes": espeak.phonemes(s)}
            f.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
