"""The teacher's parameters as training material.

An utterance is its ids [N] without pads, the frames each of them lasts [N], and
its frames [T, 47]: 45 mel-cepstra, log F0 (interpolated where there is no voice)
and voicing. A frame is 5 ms; T is even, because the model makes two frames at a time.
"""

import numpy as np
import torch

import phonemes
from prosody import restyle

ORDER = 45  # mel-cepstra in a frame
FRAME = ORDER + 2
LEAD, TRAIL = 12, 40  # frames of silence kept at the ends: 60 and 200 ms
VALIDATION = 40  # utterances never trained on


def stored(path):
    """The utterances of a teacher's file: text, phonemes, frames per symbol, mel-cepstra, log F0 (0 without voice)."""
    d = np.load(path)
    frames = np.concatenate([[0], np.cumsum(d["nfrm"])])
    symbols = np.concatenate([[0], np.cumsum(d["ndur"])])
    texts, spoken, dur, mgc, lf0 = (d[k] for k in ("texts", "phonemes", "dur", "mgc", "lf0"))
    for i in range(len(spoken)):
        f, s = slice(*frames[i : i + 2]), slice(*symbols[i : i + 2])
        yield str(texts[i]), str(spoken[i]), dur[s].copy(), mgc[f].astype("f4"), lf0[f]


def utterance(text, spoken, dur, mgc, lf0):
    mgc, lf0 = restyle(text, spoken, dur, mgc, lf0)
    last = np.nonzero(dur)[0][-1]
    lead, trail = int(max(0, dur[0] - LEAD)), int(max(0, dur[last] - TRAIL))
    dur[0] -= lead
    dur[last] -= trail
    mgc, lf0 = mgc[lead : len(mgc) - trail], lf0[lead : len(lf0) - trail]
    voiced = lf0 > 0
    where = np.nonzero(voiced)[0]
    drawn = np.interp(np.arange(len(lf0)), where, lf0[where])
    y = np.concatenate([mgc, drawn[:, None], voiced[:, None]], 1).astype("f4")
    if len(y) % 2:
        y = np.concatenate([y, y[-1:]])
    return np.array(phonemes.ids(spoken, pad=False)), dur.astype("f4"), y


def load(paths):
    """Training and validation utterances of the files."""
    out = [utterance(*u) for path in paths for u in stored(path) if (u[4] > 0).sum() >= 4]
    return out[VALIDATION:], out[:VALIDATION]


def statistics(utterances):
    """Mean and standard deviation of a frame; of log F0 where there is voice; voicing stays as it is."""
    y = np.concatenate([u[2] for u in utterances[::5]])
    mean, std = y.mean(0), y.std(0)
    lf0 = y[y[:, -1] > 0, ORDER]
    mean[ORDER], std[ORDER] = lf0.mean(), lf0.std()
    mean[-1], std[-1] = 0, 1
    return torch.tensor(mean), torch.tensor(std)


def batches(utterances, steps, rng):
    """Shuffled batches of utterances of like length, of at most so many decoder steps each."""
    order = sorted(range(len(utterances)), key=lambda i: len(utterances[i][2]) * (1 + 0.1 * rng.rand()))
    out, batch, longest = [], [], 0
    for i in order:
        length = len(utterances[i][2]) // 2
        if batch and max(longest, length) * (len(batch) + 1) > steps:
            out.append(batch)
            batch, longest = [], 0
        batch.append(utterances[i])
        longest = max(longest, length)
    out.append(batch)
    rng.shuffle(out)
    return out


def collate(batch):
    """Returns ids [B,N], their counts [B], frames per id [B,N], frames [B,2T,47], mask of steps [B,1,T]."""
    n, t = max(len(u[0]) for u in batch), max(len(u[2]) for u in batch) // 2
    ids = torch.zeros(len(batch), n, dtype=torch.long)
    dur = torch.zeros(len(batch), n)
    y = torch.zeros(len(batch), 2 * t, FRAME)
    mask = torch.zeros(len(batch), 1, t)
    for i, (q, d, frames) in enumerate(batch):
        ids[i, : len(q)] = torch.tensor(q)
        dur[i, : len(q)] = torch.tensor(d)
        y[i, : len(frames)] = torch.tensor(frames)
        mask[i, 0, : len(frames) // 2] = 1
    return ids, torch.tensor([len(u[0]) for u in batch]), dur, y, mask
