"""Changes of the teacher's parameters: it reads questions and exclamations like
statements, so a yes/no question gets a rise at its end and an exclamation more variation.
"""

import re

import numpy as np

WH = re.compile(r"^(what|who|whose|why|where|when|how|which)\b", re.I)
RISE = 0.40  # of log F0, over the last stressed syllable and what follows
LONGEST, SHORTEST = 100, 24  # frames of 5 ms that the rise takes
RANGE, LIFT = 1.25, 0.06  # of an exclamation's log F0
LOUDER = 0.12  # of its first mel-cepstrum, where it is not silent


def restyle(text, phonemes, dur, mgc, lf0):
    """Changed mel-cepstra [T,45] and log F0 [T] (0 without voice); dur [N]: frames a symbol, BOS first."""
    voiced = lf0 > 0
    if voiced.sum() < 8:
        return mgc, lf0
    if text.endswith("!"):
        return exclaim(mgc, lf0, voiced)
    if text.endswith("?") and not WH.match(text):
        return mgc, rise(phonemes, dur, lf0, voiced)
    return mgc, lf0.astype("f4")


def exclaim(mgc, lf0, voiced):
    mean = lf0[voiced].mean()
    lf0, mgc = lf0.copy(), mgc.copy()
    lf0[voiced] = mean + RANGE * (lf0[voiced] - mean) + LIFT
    mgc[:, 0] += LOUDER * (mgc[:, 0] > mgc[:, 0].max() - 4)
    return mgc, lf0.astype("f4")


def rise(phonemes, dur, lf0, voiced):
    end = np.nonzero(voiced)[0][-1]
    stressed = phonemes.rfind("ˈ")
    begin = int(dur[: stressed + 2].sum()) if stressed >= 0 else end - 60
    begin = max(int(np.clip(begin, end - LONGEST, end - SHORTEST)), 0)
    t = np.clip((np.arange(len(lf0)) - begin) / max(1, end - begin), 0, 1)
    level = np.interp(begin, np.nonzero(voiced)[0], lf0[voiced])
    away = np.clip(t / 0.3, 0, 1)
    risen = (1 - away) * lf0 + away * level + RISE * t * t * (3 - 2 * t)
    return np.where(voiced & (t > 0), risen, lf0).astype("f4")
