"""Sentences to learn from: corpus.py OUT.jsonl COUNT SEED [--questions]

All come from the templates below, filled with words of Debian's wamerican that
are also in the recognizer's dictionary; none is copied from anywhere. --questions
gives mostly questions and exclamations. The same seed gives the same sentences, so
the order of the templates and of the draws matters.
"""

import json
import random
import re
import sys

from phonemes import Espeak

LONGEST = 130  # characters

QUESTIONS = "--questions" in sys.argv
out, count, seed = [a for a in sys.argv[1:] if not a.startswith("--")]
R = random.Random(int(seed))

with open("/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict", encoding="utf-8") as f:
    cmu = {line.split()[0] for line in f}
with open("/usr/share/dict/american-english", encoding="utf-8") as f:
    words = [w.strip() for w in f]
words = [w for w in words if re.fullmatch(r"[A-Za-z]{3,11}", w) and w.lower() in cmu]
names = [w for w in words if w[0].isupper()]
lower = [w for w in words if w.islower()]
ing = [w for w in lower if w.endswith("ing") and len(w) > 5]
ed = [w for w in lower if w.endswith("ed") and len(w) > 4]
ly = [w for w in lower if w.endswith("ly") and len(w) > 4]
plural = [w for w in lower if w.endswith("s") and not w.endswith("ss") and len(w) > 4]
adj = [w for w in lower if re.search(r"(y|ful|less|ous|ive|al|ic|able|ible|ish|ant|ent)$", w)]
plain = [w for w in lower if w not in set(ing + ed + ly + plural)]


C = dict(
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


def c(k):
    return R.choice(C[k])


def num(a, b):
    return str(R.randint(a, b))


def w(l):
    return R.choice(l)


def clock():
    if R.random() < .6:
        hour = R.randint(1, 12)
        minute = R.choice("00 05 10 15 20 25 30 35 40 45 50 55 07 12 48".split())
        return f"{hour}:{minute} {R.choice(['AM', 'PM'])}"
    about = R.choice(["half past", "a quarter past", "a quarter to", "ten to", "five past", "about"])
    return f"{about} {R.choice('one two three four five six seven eight nine ten eleven twelve'.split())}"


def ordn(k):
    """1st, 2nd, 3rd, 4th."""
    return f"{k}{'th' if 10 <= k % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(k % 10, 'th')}"


def house():
    return R.choice([
        lambda: f"The {c('dev')} in the {c('room')} is {c('state')}.",
        lambda: f"The {c('dev')} is {c('state')}, and the {c('dev')} is {c('state')}.",
        lambda: f"{c('person')}, please {c('chore')} before {clock()}.",
        lambda: f"Don't forget to {c('chore')}, {c('person')}!",
        lambda: f"Reminder: {c('chore')} at {clock()}.",
        lambda: f"It is {clock()} on {c('day')}, {c('month')} {ordn(R.randint(1,31))}.",
        lambda: f"The temperature in the {c('room')} is {num(-20,110)} degrees.",
        lambda: f"Today will be {c('wx')}, with a high of {num(20,105)} and a low of {num(-10,80)}.",
        lambda: f"Tonight it will be {c('wx')} and {c('wx')}; the chance of rain is {num(0,100)} percent.",
        lambda: f"Now playing {c('song')} in the {c('room')}.",
        lambda: f"Someone is at the {R.choice(['front','back','side'])} door.",
        lambda: f"Your timer for {num(1,59)} minutes is done.",
        lambda: f"Should I turn {R.choice(['on','off'])} the {c('dev')} in the {c('room')}?",
        lambda: f"Would you like me to {c('chore')}?",
        lambda: f"Is the {c('dev')} {c('state')}?",
        lambda: f"Why is the {c('dev')} {c('state')}, {c('person')}?",
        lambda: f"You have {num(1,40)} new messages and {num(1,20)} missed calls.",
        lambda: f"Package number {num(100,9999)} was delivered to the {c('room')} at {clock()}.",
        lambda: f"Good {R.choice(['morning','afternoon','evening','night'])}, {c('person')}. It is {num(10,100)} degrees outside."[:200],
        lambda: f"Battery at {num(1,99)} percent on the {c('dev')}.",
        lambda: f"Warning! The {c('dev')} in the {c('room')} has been {c('state')} for {num(2,90)} minutes.",
        lambda: f"Turning {R.choice(['up','down','on','off'])} the {c('dev')}; the {c('room')} is {c('state')}.",
        lambda: f"Dinner will be ready in {num(2,60)} minutes.",
        lambda: f"The code is {' '.join(R.choice('0123456789') for _ in range(R.randint(3,5)))}.",
        lambda: f"{' '.join(R.choice('ABCDEFGHIJKLMNOPQRSTUVWXYZ') for _ in range(R.randint(2,4)))} {num(1,99)}.",
    ])()


def ball():
    return R.choice([
        lambda: f"{c('city')} leads {c('city')} by a score of {num(1,15)} to {num(0,9)}.",
        lambda: f"The {c('team')} beat the {c('team')}, {num(1,19)} to {num(0,12)}.",
        lambda: f"{R.choice(['Top','Bottom','Middle','End'])} of the {c('inn')}, {R.choice(['one','two','no','nobody'])} {R.choice(['out','outs'])}.",
        lambda: f"{w(names)} {c('play')}.",
        lambda: f"{w(names)} {c('play')}, and {w(names)} {c('play')}.",
        lambda: f"The {c('pos')} {c('play')} in the {c('inn')}.",
        lambda: f"The count is {num(0,3)} and {num(0,2)} on {w(names)}.",
        lambda: f"{w(names)}, the {c('pos')}, is batting .{num(180,380)} with {num(1,45)} home runs."
        .replace("batting .", "batting "),
        lambda: f"Runners on {R.choice(['first','second','first and second','first and third','the corners','second and third'])} with {R.choice(['one out','two outs','nobody out'])}.",
        lambda: f"Coming to bat for the {c('team')}: the {c('pos')}, number {num(1,99)}, {w(names)} {w(names)}!",
        lambda: f"{w(names)} leads the league with {num(20,200)} {R.choice(['hits','strikeouts','walks','runs batted in','stolen bases','innings pitched'])}.",
        lambda: f"In {num(1901,2029)}, the {c('team')} won {num(50,116)} games and lost {num(40,110)}.",
        lambda: f"Game {num(1,7)} of the {R.choice(['World Series','playoffs','division series','season'])} starts {c('day')} at {clock()}.",
        lambda: f"Who hit the home run in the {c('inn')} inning?",
        lambda: f"Did the {c('team')} win against {c('city')} on {c('day')}?",
        lambda: f"What a catch by the {c('pos')}!",
        lambda: f"The {c('pos')} throws a {num(70,102)} mile an hour {R.choice(['fastball','curve','slider','changeup','sinker','cutter','knuckleball'])}.",
        lambda: f"{R.choice(['Strike','Ball'])} {R.choice(['one','two','three'])}.",
    ])()


def mixed():
    a, b, d, e = (w(plain) for _ in range(4))
    return R.choice([
        lambda: f"The {w(adj)} {a} {w(ed)} the {b} near the {d}.",
        lambda: f"She {w(ed)} her {a} because he {w(ed)} their {b}.",
        lambda: f"{w(ing).capitalize()} {w(plural)} were {w(ly)} {w(ed)} by the {w(adj)} {a}.",
        lambda: f"I don't know whether {w(names)} would {a} or {b} with you.",
        lambda: f"What do you think about {w(ing)} the {w(plural)} in {w(names)}?",
        lambda: f"Can we {a} those {w(plural)}, or should they {b} again?",
        lambda: f"There are {num(2,99)} {w(plural)} and {num(100,999)} {w(plural)} under this {a}.",
        lambda: f"If you have any {w(plural)}, {w(names)} could {a} them into {b}.",
        lambda: f"My {a}, his {b}, and your {d} are all {w(adj)}.",
        lambda: f"He was {w(ing)} through {w(names)} until the {w(adj)} {a} {w(ed)} it.",
        lambda: f"We've been {w(ing)} with {w(adj)} {w(plural)} from {w(names)} since {c('day')}.",
        lambda: f"It isn't {w(adj)}; it's just {w(adj)} and {w(adj)}.",
        lambda: f"{a.capitalize()}, {b}, {d}, {e}.",
        lambda: f"{a.capitalize()} {b} {d} {e} {w(plain)}.",
        lambda: f"{w(names)} {w(names)} and {w(names)} {w(names)}.",
        lambda: f"You shouldn't {a} a {b} without {w(ing)} at least one {d} first.",
        lambda: f"They said that {w(ly)} {w(ing)} an {w([x for x in R.sample(plain,60) if x[0] in 'aeiou'] or ['apple'])} makes us {w(adj)}!",
        lambda: f"Where did the {w(adj)} {w(plural)} go, and who {w(ed)} the {a} over there?",
        lambda: f"On the {ordn(R.randint(1,31))} of {c('month')}, {w(plural)} {a} every {b}.",
        lambda: f"{a.capitalize()}.", lambda: f"{a.capitalize()}?", lambda: f"{w(adj).capitalize()} {a}!",
        lambda: f"Yes, {a} {b}.", lambda: f"No, that {a} was {w(ly)} {w(ed)}.",
        lambda: f"Around {num(1000,99999)} {w(plural)} {w(ed)} {w(ly)} between {num(2,20)} and {num(21,99)}.",
    ])()


def question():
    thing = lambda: R.choice([f"the {c('dev')}", f"the {c('room')}", f"the {c('pos')}", f"the {c('team')}", c('person'), f"the {w(adj)} {w(plain)}", "it", "that", "this", "the game", "the score", w(names)])
    verb = lambda: R.choice([w(plain), "work", "win", "start", "finish", "need help", "look right", "stop", "come home", "happen", "play", "open", "close", c('chore')])
    end = lambda: R.choice(["", "", "", " today", " tonight", " yet", " now", " this afternoon", " tomorrow morning", f" on {c('day')}", f" in the {c('room')}", f" in {c('city')}", " last week", " again"])
    be = lambda: R.choice("is are was were isn't wasn't".split())
    aux = lambda: R.choice("do does did will would can could should don't didn't won't can't".split())
    wh = lambda: R.choice(["what", "who", "when", "where", "why", "how", "which one", "how many", "how long", "whose turn", "what time", "who else", "how much"])
    x = R.random()
    if x < .42:
        return R.choice([
            lambda: f"{wh()} {be()} {thing()}{end()}?", lambda: f"{wh()} {aux()} {thing()} {verb()}{end()}?", lambda: f"who {w(ed)} {thing()}{end()}?",
            lambda: f"who {R.choice('left won hit threw made took called stole said'.split())} {thing()}{end()}?", lambda: f"what {R.choice(['happened','changed','is next','broke'])}{end()}?",
            lambda: f"which {w(plain)} {aux()} you {verb()}{end()}?", lambda: f"how {w(adj)} {be()} {thing()}{end()}?", lambda: f"where {aux()} you {verb()}{end()}?",
            lambda: f"{wh()}?", lambda: f"why {be()} {thing()} {c('state')}{end()}?", lambda: f"when {aux()} {thing()} {verb()}?"])().capitalize()
    if x < .66:
        s = R.choice([lambda: f"{be()} {thing()} {c('state')}{end()}?", lambda: f"{aux()} {thing()} {verb()}{end()}?", lambda: f"{aux()} you {verb()}{end()}?", lambda: f"are you {R.choice([w(adj), w(ing), 'ready', 'there', 'sure'])}{end()}?",
                      lambda: f"{R.choice(['have','has'])} {thing()} {w(ed)}{end()}?", lambda: f"may I {verb()}{end()}?", lambda: f"am I {w(adj)}{end()}?"])()
        return s[0].upper() + s[1:]
    s = R.choice([house, ball, mixed])().split(". ")[0].rstrip(".?!")
    if R.random() < .4 and len(s) > 30: s = s[0].upper() + s.split(",")[0][1:]
    return s + ("?" if x < .88 and not re.match(r"(what|who|why|where|when|how|which)", s, re.I) else "!")


def sentence():
    if QUESTIONS: return question()
    x = R.random()
    s = house() if x < .28 else ball() if x < .5 else mixed()
    s = s.split(". ")[0]
    s = s if s[-1] in ".?!" else s + "."
    if R.random() < .08:                 # announcements without final punctuation
        s = s.rstrip(".?!")
    return s


seen = set()
espeak = Espeak()
with open(out, "w", encoding="utf-8") as f:
    while len(seen) < int(count):
        s = sentence()
        if s in seen or len(s) > LONGEST:
            continue
        seen.add(s)
        row = {"id": f"s{len(seen):05d}", "text": s, "phonemes": espeak.phonemes(s)}
        f.write(json.dumps(row, ensure_ascii=False) + "\n")
