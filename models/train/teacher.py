"""The teacher's speech parameters: teacher.py CORPUS.jsonl OUT [--wav]

The teacher is festival with cmu_us_slt_arctic_hts. To make it use exactly
espeak-ng's phonemes, every word becomes an artificial token with the pronunciation
of its IPA. festival adds syllables, accents and phrases and writes labels;
hts_engine converts these to mel-cepstra, log F0 and the exact length of each phone,
which is assigned to its code points. So no recognizer, aligner or pitch tracker is
needed. OUT/feats.npz gets all of it; --wav adds OUT/wav/ID.wav at 16 kHz.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

VOICE = "/usr/share/festival/voices/us/cmu_us_slt_arctic_hts/hts/cmu_us_slt_arctic_hts.htsvoice"
PUNCT = ".,:;?!"
ORDER = 45
JOBS = 2
TOKENS = 40  # different words of one kind in a sentence

# IPA to the teacher's phones.
VOW = {"aɪ": "ay", "aʊ": "aw", "ɔɪ": "oy", "oɪ": "oy", "eɪ": "ey", "oʊ": "ow", "iː": "iy", "uː": "uw", "ɑː": "aa",
       "ɔː": "ao", "oː": "ao", "ɜː": "er", "i": "iy", "ɪ": "ih", "ᵻ": "ih", "ɐ": "ax", "ə": "ax", "ɚ": "er", "ɛ": "eh",
       "æ": "ae", "ʌ": "ah", "ɑ": "aa", "ɔ": "ao", "o": "ow", "a": "aa", "e": "ey", "u": "uw", "ʊ": "uh", "ɜ": "er", "ɒ": "aa"}
CON = {"tʃ": "ch", "dʒ": "jh", "p": "p", "b": "b", "t": "t", "d": "d", "k": "k", "ɡ": "g", "g": "g", "f": "f", "v": "v",
       "θ": "th", "ð": "dh", "s": "s", "z": "z", "ʃ": "sh", "ʒ": "zh", "h": "hh", "m": "m", "n": "n", "ŋ": "ng", "l": "l",
       "ɹ": "r", "r": "r", "w": "w", "j": "y", "ɾ": "t", "ʔ": "t", "x": "k"}
PH = {**VOW, **CON}
VOWELS = set(VOW.values())
SPLIT = {"ch": (.45, .55), "jh": (.45, .55), "ay": (.55, .45), "aw": (.55, .45), "oy": (.55, .45), "ey": (.55, .45), "ow": (.55, .45)}
ONSETS = {tuple(x.split()) for x in (
    "p r,p l,b r,b l,t r,t w,d r,d w,k r,k l,k w,g r,g l,g w,f r,f l,th r,th w,sh r,s p,s t,s k,s m,s n,s l,s w,s f,"
    "p y,b y,k y,f y,v y,m y,hh y,s p r,s p l,s t r,s k r,s k w,s k y,s p y").split(",")}
GPOS = {"in": "ʌv ɪn ɔn ɑːn fɚ fɔːɹ wɪð fɹʌm æt baɪ æz ðæt ɪf ʌvðə ɪnðə ɔnðə æɾə ɪnə ʌvə fɚðə fɹʌmðə wɪððə ˌʌndɚ ˌɪntʊ ˌɔn ˌæt θɹˌuː ɐbˌaʊt bɪtwˌiːn wɪðˌaʊt əntˈɪl sˈɪns nˌɪɹ",
        "to": "tə tʊ", "det": "ðə ðɪ ɐ ɐn ɐɾ ðɪs sʌm ˈɔːl ˈɛvɹi ˈɛni nˈoʊ ðoʊz", "md": "wɪl wʊd kæn kʊd ʃʊd mˈʌst",
        "cc": "ænd ɔːɹ bˌʌt ænd", "wp": "hˌuː wˌʌt wˌɛɹ hˌaʊ wˌɛn", "pps": "hɜː hɪz ðɛɹ jʊɹ maɪ aʊɚ ɪts",
        "aux": "ɪz ɪɾɪz ɑːɹ wʌz wɜː hɐz hæv hæd biː hɐzbɪn wˈɑːzɐ ɐm"}
GPOS = {ch: k for k, v in GPOS.items() for ch in v.split()}


def parse_word(sym):
    """A word's code points to (phone, stress, [(code point's place, share of the time), ...]); None if it cannot be said."""
    out, i, stress = [], 0, 0
    while i < len(sym):
        s = sym[i]
        if s in "ˈˌ":
            stress, i = 1, i + 1  # festival knows no secondary stress
        elif s == "ː":
            i += 1
        elif s == "\u0329" and out and out[-1][0] in ("n", "l", "m"):  # syllabic: a schwa before it
            phone, _, places = out.pop()
            at = places[0][0]
            out += [("ax", 0, [(at, 1.0)]), (phone, 0, [(at, 1.0)])]
            i += 1
        elif s == "\u0303" and out and out[-1][0] in VOWELS:  # nasal
            out.append(("n", 0, [(i, 1.0)]))
            i += 1
        else:
            phone, places = phone_at(sym, i)
            if phone is None:
                return None
            vowel = phone in VOWELS
            out.append((phone, stress if vowel else 0, places))
            stress = 0 if vowel else stress
            i += len(places) + (sym[i + 1 : i + 2] == ["ː"] and len(places) == 1)
    return out


def phone_at(sym, i):
    """The phone that begins at i, and the code points that it takes its time from."""
    two = "".join(sym[i : i + 2])
    if two == "iə" and sym[i + 2 : i + 3] == ["ɹ"]:
        return "ih", [(i, 0.5), (i + 1, 0.5)]
    if two in PH and not two.endswith("ː") and len(two) == 2:
        a, b = SPLIT[PH[two]]
        return PH[two], [(i, a), (i + 1, b)]
    return PH.get(two, PH.get(sym[i])), [(i, 1.0)]


def syllabify(phones):
    """Syllables as (phones, stress): every consonant that can begin one does."""
    nuclei = [i for i, p in enumerate(phones) if p[0] in VOWELS]
    if not nuclei:
        return None
    starts = [0]
    for before, nucleus in zip(nuclei, nuclei[1:]):
        k = nucleus
        while k - 1 > before and onset(phones[k - 1 : nucleus]):
            k -= 1
        starts.append(k)
    starts.append(len(phones))
    return [(phones[s:e], max(p[1] for p in phones[s:e])) for s, e in zip(starts, starts[1:])]


def onset(phones):
    names = tuple(p[0] for p in phones)
    return names != ("ng",) if len(names) == 1 else names in ONSETS


def letters(n):
    out = ""
    while n >= 0:
        out = chr(97 + n % 26) + out
        n = n // 26 - 1
    return out


def prepare(spoken):
    """festival's text, its pronunciations, and (phone, [(code point's place, share)]) of all phones and pauses."""
    text, prons, segments, seen = [], [], [("pau", [(-1, 1.0)])], {}
    for m in re.finditer(r"[.,:;?!]|[^ .,:;?!]+", spoken):
        i, word = m.start(), m.group()
        if word in PUNCT:
            if not text:
                return None
            text[-1] += word if word != "!" else "."
            segments.append(("pau", [(i, 1.0)]))
            continue
        phones = parse_word(list(word))
        syllables = phones and syllabify(phones)
        kind = GPOS.get(word, "cw")
        k = seen[kind] = seen.get(kind, -1) + 1
        if not syllables or k >= TOKENS:
            return None
        token = f"zq{kind}x{letters(k)}"
        text.append(token)
        said = " ".join("((%s) %d)" % (" ".join(p[0] for p in s), stress) for s, stress in syllables)
        prons.append(f'("{token}" {said})')
        segments += [(p[0], [(i + at, share) for at, share in p[2]]) for p in phones]
    return " ".join(text), prons, segments


SCM = """
(voice_cmu_us_slt_arctic_hts)
(set! prons nil)
(define (ipa_lts word feats) (list word nil (cdr (assoc_string word prons))))
(lex.set.lts.method 'ipa_lts)
(set! postlex_rules_hooks nil)
(define (token_to_words token name) (list name))
(Parameter.set 'Phrase_Method 'cart_tree)
(set! phrase_cart_tree simple_phrase_cart_tree)
(set! guess_pos '(%s))
(define (dump_one name text pr)
  (set! prons pr)
  (let ((utt (eval (list 'Utterance 'Text text))) (fd (fopen name "w")))
    (Initialize utt) (Text utt) (Token_POS utt) (Token utt) (POS utt) (Phrasify utt) (Word utt)
    (Pauses utt) (Intonation utt) (PostLex utt) (Duration utt) (Int_Targets utt)
    (mapcar (lambda (s) (format fd "%%s\\n" s)) (hts_dump_feats_string_list utt hts_feats_list))
    (fclose fd)))
"""


def label(out, part, todo):
    """festival writes OUT/lab/ID.lab for its part of the sentences."""
    kinds = sorted(set(GPOS.values()))
    guess = " ".join("(%s %s)" % (k, " ".join(f"zq{k}x{letters(i)}" for i in range(TOKENS))) for k in kinds)
    script = f"{out}/part{part}.scm"
    with open(script, "w") as f:
        f.write(SCM % guess)
        for row, (text, prons, _) in todo[part::JOBS]:
            f.write('(dump_one "%s/lab/%s.lab" "%s" \'(%s))\n' % (out, row["id"], text, " ".join(prons)))
    subprocess.run(["festival", "-b", script], check=True)


def parameters(base, segments, symbols, wav):
    """mel-cepstra [T,45], log F0 [T] and frames per symbol [N + 2] of a label file; None if festival paused elsewhere."""
    # Without sound, a frame of one sample lets hts_engine skip nearly all of its slow vocoder.
    mode, unit = (["-or", base + ".raw"], 50000) if wav else (["-s", "32000", "-p", "1"], 312.5)
    outputs = ["-od", base + ".dur", "-om", base + ".mgc", "-of", base + ".lf0"]
    subprocess.run(["hts_engine", "-m", VOICE, *outputs, *mode, base + ".lab"], check=True, capture_output=True)
    mgc = np.fromfile(base + ".mgc", "f4").reshape(-1, ORDER)
    lf0 = np.maximum(np.fromfile(base + ".lf0", "f4"), 0)
    names, ends = [], []
    with open(base + ".dur") as f:
        for line in f:
            _, end, full = line.split()[:3]
            if not re.search(r"\[[3-9]\]$", full):  # the first of a phone's five states
                names.append(re.search(r"-([^+]+)\+", full).group(1))
                ends.append(0)
            ends[-1] = int(int(end) / unit + 0.5)
    want = [s[0] for s in segments]
    if names[-1] == "pau" and want[-1] != "pau":
        segments = [*segments, ("pau", [(symbols, 1.0)])]
    if names != [s[0] for s in segments]:
        return None
    dur, start = np.zeros(symbols + 2), 0  # BOS is 0, so symbol k is k + 1
    for (_, places), end in zip(segments, ends):
        for at, share in places:
            dur[at + 1] += (end - start) * share
        start = end
    return mgc.astype("f2"), lf0, dur


def speak(out, row, segments, wav):
    base = f"{out}/lab/{row['id']}"
    if not os.path.exists(base + ".lab"):
        return None
    made = parameters(base, segments, len(row["phonemes"]), wav)
    for end in ".mgc", ".lf0":
        os.remove(base + end)
    if wav:
        raw = ["-t", "raw", "-r", "32000", "-e", "signed", "-b", "16", "-c", "1", base + ".raw"]
        subprocess.run(["sox", *raw, "-r", "16000", f"{out}/wav/{row['id']}.wav"], check=True, stderr=subprocess.DEVNULL)
        os.remove(base + ".raw")
    return made and (row, *made)


def main(corpus, out, wav):
    os.makedirs(out + "/lab", exist_ok=True)
    os.makedirs(out + "/wav", exist_ok=True)
    with open(corpus, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    todo = [(row, p) for row in rows for p in [prepare(row["phonemes"])] if p]
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda part: label(out, part, todo), range(JOBS)))
        made = [m for m in pool.map(lambda t: speak(out, t[0], t[1][2], wav), todo) if m]
    rows, mgc, lf0, dur = zip(*made)
    np.savez(
        out + "/feats.npz",
        texts=np.array([r["text"] for r in rows]),
        phonemes=np.array([r["phonemes"] for r in rows]),
        dur=np.concatenate(dur), ndur=np.array([len(d) for d in dur]),
        mgc=np.concatenate(mgc), lf0=np.concatenate(lf0), nfrm=np.array([len(x) for x in lf0]),
    )  # fmt: skip
    print(len(rows), "sentences,", sum(map(len, lf0)) * 0.005 / 3600, "hours")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--wav" in sys.argv)
