"""A list of sentences with phonemes: sentences.py LIST.txt OUT.jsonl

LIST.txt has one sentence a line; OUT.jsonl gets {"id", "text", "phonemes", "ids"}.
"""

import json
import os
import sys

from phonemes import Espeak, ids


def main(source, out):
    espeak, name = Espeak(), os.path.splitext(os.path.basename(source))[0]
    with open(source, encoding="utf-8") as f, open(out, "w", encoding="utf-8") as g:
        for i, text in enumerate(line.strip() for line in f):
            spoken = espeak.phonemes(text)
            row = {"id": f"{name}{i:03d}", "text": text, "phonemes": spoken, "ids": ids(spoken)}
            g.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
