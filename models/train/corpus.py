"""Sentences to learn from: corpus.py OUT.jsonl COUNT SEED [--questions]

All come from the templates below, filled with words of Debian's wamerican that
are also in the recognizer's dictionary; none is copied. --questions
gives mostly questions and exclamations. The same seed gives the same sentences, so
the order of the templates and of the draws matters.

In a template {room} is a draw from a list, {3..9} a number, {on|off} one of these.
"""

import json
import random
import re
import sys

from phonemes import Espeak

LONGEST = 130  # characters

LISTS = dict(
    room=(
        "kitchen,living room,bedroom,bathroom,garage,basement,attic,hallway,dining room,office,laundry room,nursery,"
        "front porch,back yard,garden,driveway,guest room,closet,patio,den"
    ).split(","),
    dev=(
        "washing machine,dryer,dishwasher,oven,front door,back door,garage door,thermostat,air conditioner,furnace,"
        "smoke alarm,water heater,coffee maker,refrigerator,freezer,vacuum,doorbell,television,printer,sprinkler,"
        "night light,window,fan,humidifier,toaster,mailbox,alarm clock,speaker,camera,lamp"
    ).split(","),
    state=(
        "open,closed,locked,unlocked,on,off,running,finished,ready,too hot,too cold,empty,full,stuck,offline,online,"
        "charging,low on battery,ajar,leaking,beeping,warm,cool,clean,dirty,disconnected,jammed"
    ).split(","),
    team=(
        "Cubs,Cardinals,Yankees,Red Sox,Dodgers,Giants,Mets,Braves,Phillies,Astros,Rangers,Mariners,Twins,Tigers,"
        "Royals,Guardians,White Sox,Orioles,Rays,Blue Jays,Brewers,Pirates,Reds,Padres,Rockies,Diamondbacks,Marlins,"
        "Nationals,Angels,Athletics"
    ).split(","),
    city=(
        "Chicago,Saint Louis,New York,Boston,Los Angeles,San Francisco,Atlanta,Philadelphia,Houston,Seattle,Minnesota,"
        "Detroit,Kansas City,Cleveland,Baltimore,Tampa Bay,Toronto,Milwaukee,Pittsburgh,Cincinnati,San Diego,Colorado,"
        "Arizona,Miami,Washington,Oakland"
    ).split(","),
    pos=(
        "pitcher,catcher,first baseman,second baseman,third baseman,shortstop,left fielder,center fielder,"
        "right fielder,designated hitter,closer,manager,umpire,rookie,batter,pinch hitter,pinch runner"
    ).split(","),
    play=(
        "singles to left,doubles down the line,triples to the gap,homers to deep center,strikes out swinging,"
        "strikes out looking,walks,grounds out to short,flies out to right,lines out to third,pops up behind the plate,"
        "reaches on an error,steals second,is thrown out at home,bunts for a hit,is hit by the pitch,"
        "scores from second,hits into a double play,fouls it off,tags up and scores,grounds into a force out,"
        "advances on a wild pitch,is caught stealing,takes ball three,sends a fly ball to the warning track,"
        "hits a sacrifice fly"
    ).split(","),
    inn="first,second,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth,eleventh,twelfth".split(","),
    day="Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday".split(","),
    month="January,February,March,April,May,June,July,August,September,October,November,December".split(","),
    wx=(
        "sunny,cloudy,partly cloudy,rainy,windy,foggy,snowy,stormy,clear,humid,hazy,freezing,mild,chilly,breezy,"
        "overcast"
    ).split(","),
    person=(
        "Mom,Dad,Grandma,Emma,Noah,Olivia,Liam,Sophia,Jack,Lucy,Henry,Alice,George,Kate,Daniel,Maria,Joseph,Sarah,"
        "Thomas,Rachel,Peter,Julia,Michael,Hannah"
    ).split(","),
    song=(
        "jazz,classical music,rock and roll,the blues,country music,the news,the radio,a podcast,the audio book,"
        "your favorites,the next track,the morning playlist"
    ).split(","),
    chore=(
        "feed the dog,take out the trash,water the plants,call the dentist,pick up the kids,pay the electric bill,"
        "buy milk and eggs,close the windows,charge the car,walk the cat,change the filter,return the library books,"
        "set the table,start the laundry,shovel the snow,check the mail,turn down the heat,bring in the groceries,"
        "fold the towels,wash your hands,brush your teeth,go to bed,join the meeting,take your medicine"
    ).split(","),
)
HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
MINUTES = "00 05 10 15 20 25 30 35 40 45 50 55 07 12 48".split()

HOUSE = [
    "The {dev} in the {room} is {state}.",
    "The {dev} is {state}, and the {dev} is {state}.",
    "{person}, please {chore} before {clock}.",
    "Don't forget to {chore}, {person}!",
    "Reminder: {chore} at {clock}.",
    "It is {clock} on {day}, {month} {date}.",
    "The temperature in the {room} is {-20..110} degrees.",
    "Today will be {wx}, with a high of {20..105} and a low of {-10..80}.",
    "Tonight it will be {wx} and {wx}; the chance of rain is {0..100} percent.",
    "Now playing {song} in the {room}.",
    "Someone is at the {front|back|side} door.",
    "Your timer for {1..59} minutes is done.",
    "Should I turn {on|off} the {dev} in the {room}?",
    "Would you like me to {chore}?",
    "Is the {dev} {state}?",
    "Why is the {dev} {state}, {person}?",
    "You have {1..40} new messages and {1..20} missed calls.",
    "Package number {100..9999} was delivered to the {room} at {clock}.",
    "Good {morning|afternoon|evening|night}, {person}. It is {10..100} degrees outside.",
    "Battery at {1..99} percent on the {dev}.",
    "Warning! The {dev} in the {room} has been {state} for {2..90} minutes.",
    "Turning {up|down|on|off} the {dev}; the {room} is {state}.",
    "Dinner will be ready in {2..60} minutes.",
    "The code is {digits}.",
    "{capitals} {1..99}.",
]
BALL = [
    "{city} leads {city} by a score of {1..15} to {0..9}.",
    "The {team} beat the {team}, {1..19} to {0..12}.",
    "{Top|Bottom|Middle|End} of the {inn}, {one|two|no|nobody} {out|outs}.",
    "{name} {play}.",
    "{name} {play}, and {name} {play}.",
    "The {pos} {play} in the {inn}.",
    "The count is {0..3} and {0..2} on {name}.",
    "{name}, the {pos}, is batting {180..380} with {1..45} home runs.",
    "Runners on {first|second|first and second|first and third|the corners|second and third}"
    " with {one out|two outs|nobody out}.",
    "Coming to bat for the {team}: the {pos}, number {1..99}, {name} {name}!",
    "{name} leads the league with {20..200}"
    " {hits|strikeouts|walks|runs batted in|stolen bases|innings pitched}.",
    "In {1901..2029}, the {team} won {50..116} games and lost {40..110}.",
    "Game {1..7} of the {World Series|playoffs|division series|season} starts {day} at {clock}.",
    "Who hit the home run in the {inn} inning?",
    "Did the {team} win against {city} on {day}?",
    "What a catch by the {pos}!",
    "The {pos} throws a {70..102} mile an hour {fastball|curve|slider|changeup|sinker|cutter|knuckleball}.",
    "{Strike|Ball} {one|two|three}.",
]
MIXED = [  # {a}, {b}, {d} and {e} are four plain words, drawn before; with a capital letter at a sentence's beginning
    "The {adj} {a} {ed} the {b} near the {d}.",
    "She {ed} her {a} because he {ed} their {b}.",
    "{Ing} {plural} were {ly} {ed} by the {adj} {a}.",
    "I don't know whether {name} would {a} or {b} with you.",
    "What do you think about {ing} the {plural} in {name}?",
    "Can we {a} those {plural}, or should they {b} again?",
    "There are {2..99} {plural} and {100..999} {plural} under this {a}.",
    "If you have any {plural}, {name} could {a} them into {b}.",
    "My {a}, his {b}, and your {d} are all {adj}.",
    "He was {ing} through {name} until the {adj} {a} {ed} it.",
    "We've been {ing} with {adj} {plural} from {name} since {day}.",
    "It isn't {adj}; it's just {adj} and {adj}.",
    "{A}, {b}, {d}, {e}.",
    "{A} {b} {d} {e} {plain}.",
    "{name} {name} and {name} {name}.",
    "You shouldn't {a} a {b} without {ing} at least one {d} first.",
    "They said that {ly} {ing} an {anoun} makes us {adj}!",
    "Where did the {adj} {plural} go, and who {ed} the {a} over there?",
    "On the {date} of {month}, {plural} {a} every {b}.",
    "{A}.",
    "{A}?",
    "{Adj} {a}!",
    "Yes, {a} {b}.",
    "No, that {a} was {ly} {ed}.",
    "Around {1000..99999} {plural} {ed} {ly} between {2..20} and {21..99}.",
]
WH = [
    "{wh} {be} {thing}{end}?",
    "{wh} {aux} {thing} {verb}{end}?",
    "who {ed} {thing}{end}?",
    "who {left|won|hit|threw|made|took|called|stole|said} {thing}{end}?",
    "what {happened|changed|is next|broke}{end}?",
    "which {plain} {aux} you {verb}{end}?",
    "how {adj} {be} {thing}{end}?",
    "where {aux} you {verb}{end}?",
    "{wh}?",
    "why {be} {thing} {state}{end}?",
    "when {aux} {thing} {verb}?",
]
YES_NO = [
    "{be} {thing} {state}{end}?",
    "{aux} {thing} {verb}{end}?",
    "{aux} you {verb}{end}?",
    "are you {ready_or_so}{end}?",
    "{have|has} {thing} {ed}{end}?",
    "may I {verb}{end}?",
    "am I {adj}{end}?",
]
# One of these is drawn after all of them were filled.
AMONG = {
    "thing": [
        *["the {dev}", "the {room}", "the {pos}", "the {team}", "{person}", "the {adj} {plain}"],
        *["it", "that", "this", "the game", "the score", "{name}"],
    ],
    "verb": [
        *["{plain}", "work", "win", "start", "finish", "need help", "look right", "stop", "come home"],
        *["happen", "play", "open", "close", "{chore}"],
    ],
    "end": [
        *["", "", "", " today", " tonight", " yet", " now", " this afternoon", " tomorrow morning"],
        *[" on {day}", " in the {room}", " in {city}", " last week", " again"],
    ],
    "ready_or_so": ["{adj}", "{ing}", "ready", "there", "sure"],
}
LISTS.update(
    be="is are was were isn't wasn't".split(),
    aux="do does did will would can could should don't didn't won't can't".split(),
    wh=(
        "what,who,when,where,why,how,which one,how many,how long,whose turn,what time,who else,how much"
    ).split(","),
)


def vocabulary():
    """Lists of words by what they look like."""
    with open("/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict", encoding="utf-8") as f:
        cmu = {line.split()[0] for line in f}
    with open("/usr/share/dict/american-english", encoding="utf-8") as f:
        words = [w.strip() for w in f]
    words = [w for w in words if re.fullmatch(r"[A-Za-z]{3,11}", w) and w.lower() in cmu]
    lower = [w for w in words if w.islower()]
    kinds = dict(
        ing=[w for w in lower if w.endswith("ing") and len(w) > 5],
        ed=[w for w in lower if w.endswith("ed") and len(w) > 4],
        ly=[w for w in lower if w.endswith("ly") and len(w) > 4],
        plural=[w for w in lower if w.endswith("s") and not w.endswith("ss") and len(w) > 4],
    )
    kinds["plain"] = [w for w in lower if w not in set(sum(kinds.values(), []))]
    kinds["adj"] = [w for w in lower if re.search(r"(y|ful|less|ous|ive|al|ic|able|ible|ish|ant|ent)$", w)]
    kinds["name"] = [w for w in words if w[0].isupper()]
    return kinds


QUESTIONS = "--questions" in sys.argv
out, count, seed = [a for a in sys.argv[1:] if not a.startswith("--")]
R = random.Random(int(seed))
LISTS.update(vocabulary())


def clock():
    if R.random() < 0.6:
        hour = R.randint(1, 12)
        return f"{hour}:{R.choice(MINUTES)} {R.choice(['AM', 'PM'])}"
    about = R.choice(["half past", "a quarter past", "a quarter to", "ten to", "five past", "about"])
    return f"{about} {R.choice(HOURS)}"


def date():
    """1st, 2nd, 3rd, 4th…"""
    day = R.randint(1, 31)
    return f"{day}{'th' if 10 <= day <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def some(symbols, least, most):
    return " ".join(R.choice(symbols) for _ in range(R.randint(least, most)))


MADE = {
    "clock": clock,
    "date": date,
    "digits": lambda: some("0123456789", 3, 5),
    "capitals": lambda: some("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2, 4),
    "anoun": lambda: R.choice([x for x in R.sample(LISTS["plain"], 60) if x[0] in "aeiou"] or ["apple"]),
}


def draw(what):
    if what in MADE:
        return MADE[what]()
    if what in AMONG:
        return R.choice([fill(t) for t in AMONG[what]])
    if what in LISTS:
        return R.choice(LISTS[what])
    if ".." in what:
        return str(R.randint(*map(int, what.split(".."))))
    if "|" in what:
        return R.choice(what.split("|"))
    return draw(what.lower()).capitalize()


def fill(template, **given):
    def gap(match):
        what = match.group(1)
        return given[what] if what in given else draw(what)

    return re.sub(r"\{([^}]*)\}", gap, template)


def house():
    return fill(R.choice(HOUSE))


def ball():
    return fill(R.choice(BALL))


def mixed():
    given = {letter: draw("plain") for letter in "abde"}
    return fill(R.choice(MIXED), **given, A=given["a"].capitalize())


def question():
    x = R.random()
    if x < 0.42:
        return fill(R.choice(WH)).capitalize()
    if x < 0.66:
        s = fill(R.choice(YES_NO))
        return s[0].upper() + s[1:]
    s = R.choice([house, ball, mixed])().split(". ")[0].rstrip(".?!")
    if R.random() < 0.4 and len(s) > 30:
        s = s[0].upper() + s.split(",")[0][1:]
    return s + ("?" if x < 0.88 and not re.match(r"(what|who|why|where|when|how|which)", s, re.I) else "!")


def sentence():
    if QUESTIONS:
        return question()
    x = R.random()
    s = house() if x < 0.28 else ball() if x < 0.5 else mixed()
    s = s.split(". ")[0]
    s = s if s[-1] in ".?!" else s + "."
    return s.rstrip(".?!") if R.random() < 0.08 else s  # some announcements end without a mark


def main():
    espeak, seen = Espeak(), set()
    with open(out, "w", encoding="utf-8") as f:
        while len(seen) < int(count):
            s = sentence()
            if s in seen or len(s) > LONGEST:
                continue
            seen.add(s)
            row = {"id": f"s{len(seen):05d}", "text": s, "phonemes": espeak.phonemes(s)}
            f.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
