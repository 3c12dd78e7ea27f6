"""Word error rates: recognise.py SENTENCES.jsonl NAME=DIR…

A DIR has one 16 kHz WAV per sentence. The recognizer is pocketsphinx with the
words of the sentences and two language models: WER-1 allows any order of
words and separates systems well; WER-2 has the bigrams of the sentences and is easy.
"""

import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter

ACOUSTIC = "/usr/share/pocketsphinx/model/en-us/"
BACKOFF = 0.3


def words(text):
    return re.sub(r"[^a-z' ]", " ", text.lower()).split()


def dictionary(vocabulary, out):
    """Writes the pronunciations of the words; returns those that have one."""
    known = {}
    with open(ACOUSTIC + "cmudict-en-us.dict", encoding="utf-8") as f:
        for line in f:
            word, phones = line.split(None, 1)
            known.setdefault(re.sub(r"\(\d+\)", "", word), []).append(phones.strip())
    with open(out, "w") as f:
        for word in sorted(vocabulary & known.keys()):  # the order sways the recognizer
            for i, phones in enumerate(known[word]):
                f.write(f"{word}{f'({i + 1})' if i else ''} {phones}\n")
    return vocabulary & known.keys()


def language_model(references, known, bigrams, out):
    """An ARPA file: add-one unigrams, and with bigrams those mixed with 70 % of the pairs that were seen."""
    one, two, before = Counter(known), Counter(), Counter()
    for reference in references:
        spoken = [w for w in reference if w in known]
        one.update(spoken)
        two.update(zip(["<s>", *spoken], [*spoken, "</s>"]))
    for (a, _), count in two.items():
        before[a] += count
    one["</s>"] = len(references)
    total = sum(one.values())
    back = math.log10(BACKOFF) if bigrams else 0
    with open(out, "w") as f:
        f.write(f"\\data\\\nngram 1={len(one) + 1}\n" + (f"ngram 2={len(two)}\n" if bigrams else ""))
        f.write(f"\n\\1-grams:\n-99 <s> {back:.4f}\n")
        for word, count in sorted(one.items()):
            f.write(f"{math.log10(count / total):.4f} {word} {0 if word == '</s>' else back:.4f}\n")
        if bigrams:
            f.write("\n\\2-grams:\n")
            for (a, b), count in sorted(two.items()):
                share = (1 - BACKOFF) * count / before[a] + BACKOFF * one[b] / total
                f.write(f"{math.log10(share):.4f} {a} {b}\n")
        f.write("\n\\end\\\n")


def heard(folder, names, model, work):
    """The recognizer's text for each WAV, by name."""
    with open(f"{work}/names", "w") as f:
        f.write("\n".join(names) + "\n")
    command = (
        f"pocketsphinx_batch -hmm {ACOUSTIC}en-us -dict {work}/words -lm {work}/{model} -adcin yes -adchdr 44 "
        f"-cepext .wav -ctl {work}/names -hyp {work}/heard -logfn /dev/null -cepdir"
    )
    subprocess.run([*command.split(), folder], check=True, capture_output=True)
    out = {}
    with open(f"{work}/heard") as f:
        for line in f:
            text, name = re.match(r"(.*)\((\S+) \S+\)$", line.strip()).groups()
            out[name] = [re.sub(r"\(\d+\)", "", w) for w in text.split()]
    return out


def errors(said, got):
    """Words to insert, delete or replace."""
    row = list(range(len(got) + 1))
    for i, w in enumerate(said, 1):
        last, row[0] = row[0], i
        for j, v in enumerate(got, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (w != v))
    return row[-1]


def main(sentences, *systems):
    with open(sentences, encoding="utf-8") as f:
        said = {s["id"]: words(s["text"]) for s in map(json.loads, f)}
    vocabulary = {w for s in said.values() for w in s}
    total = sum(map(len, said.values()))
    with tempfile.TemporaryDirectory() as work:
        known = dictionary(vocabulary, f"{work}/words")
        print(f"{len(said)} sentences, {total} words, vocabulary {len(vocabulary)}; unknown to the recognizer: {sorted(vocabulary - known)}")
        for i in (1, 2):
            language_model(said.values(), known, i == 2, f"{work}/{i}")
        for name, folder in (s.split("=") for s in systems):
            rates = []
            for model in "12":
                got = heard(folder, list(said), model, work)
                rates.append(100 * sum(errors(s, got.get(k, [])) for k, s in said.items()) / total)
            print(f"{name:10s} WER-1 {rates[0]:.1f} %, WER-2 {rates[1]:.1f} %", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
