"""Text to phonemes to ids, in the format of Piper's voices.

espeak-ng converts one clause at a time; the mark that ends the clause is appended
to its phonemes, because it is part of the model's input. An id is the position of a
code point in Piper's table.
"""

import ctypes
import re
import unicodedata

TABLE = (
    "_^$ !'(),-.:;?abcdefhijklmnopqrstuvwxyzæçðøħŋœǀǁǂǃɐɑɒɓɔɕɖɗɘəɚɛɜɞɟɠɡɢɣɤɥɦɧɨɪɫɬɭɮɯɰɱɲɳɴɵɶɸɹɺɻɽɾʀʁʂʃʄʈʉʊʋʌʍʎʏʐʑʒʔʕʘʙʛʜʝʟʡʢʲ"
    "ˈˌːˑ˞βθχᵻⱱ0123456789\u0327\u0303\u032a\u032f\u0329ʰˤε↓#\"↑\u033a\u033bgʦX\u031d\u030aɝʷ"
)
IDS = {symbol: i for i, symbol in enumerate(TABLE)}
SYMBOLS = 256  # what Piper's models have room for
PAD, BOS, EOS = 0, 1, 2
MARKS = ".,:;?!"
VOWELS = "aeiouæɐɑɒɔəɚɛɜɪʊʌᵻo"
TIMELESS = "_ ˈˌː'-\u0329\u0303"  # symbols that colour their neighbours and take no time

# A mark ends a clause when white space or the end follows, so 5:30 stays whole.
CLAUSE = re.compile(r"(.+?)([.,;:?!]+)(?=\s|$)|(.+)$", re.S)
IPA, UTF8, SYNCHRONOUS = 0x02, 1, 2


class Espeak:
    """libespeak-ng, speaking American English in IPA."""

    def __init__(self):
        self.lib = ctypes.CDLL("libespeak-ng.so.1")
        self.lib.espeak_Initialize(SYNCHRONOUS, 0, None, 0)
        self.lib.espeak_SetVoiceByName(b"en-us")
        self.lib.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self.lib.espeak_TextToPhonemes.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]

    def clause(self, text):
        rest = ctypes.c_char_p(text.encode())
        parts = []
        while rest.value:
            part = self.lib.espeak_TextToPhonemes(ctypes.byref(rest), UTF8, IPA)
            parts.append(part.decode().strip() if part else "")
        return re.sub(r"\([^)]+\)", "", " ".join(p for p in parts if p))

    def phonemes(self, text):
        """One sentence as a string of code points."""
        out = ""
        for match in CLAUSE.finditer(text.strip()):
            body, marks, tail = match.groups()
            ipa = self.clause((body or tail).strip())
            if not ipa:
                continue
            mark = marks[0] if marks else ""
            out += ipa + mark + (" " if mark and mark in ",:;" else "")
        return unicodedata.normalize("NFD", out.strip())


def ids(phonemes, pad=True):
    """BOS, the phonemes, EOS; Piper puts a PAD after all but the last."""
    known = [BOS] + [IDS[p] for p in phonemes if p in IDS]
    if pad:
        known = [x for i in known for x in (i, PAD)]
    return known + [EOS]
