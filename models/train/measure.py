"""Distance of the voice to its teacher, with the teacher's durations.

measure.py ACOUSTIC PITCH FEATURES [VARIATION]

Prints the mel-cepstral distortion (without the loudness), the error and correlation
of log F0 where both are voiced, errors of voicing and of duration. With VARIATION,
writes there the ratio of the teacher's variation of each mel-cepstrum and log F0.
"""

import sys

import numpy as np
import torch

import data
import phonemes
from data import ORDER
from model import Acoustic, Pitch, upsample
from prosody import restyle
from train import DB

CENT = 1200 / np.log(2)


def nets(acoustic, pitch):
    a, p = Acoustic(), Pitch()
    p.register_buffer("mean", torch.zeros(data.FRAME))
    p.register_buffer("std", torch.ones(data.FRAME))
    a.load_state_dict(torch.load(acoustic)["ema"])
    p.load_state_dict(torch.load(pitch)["ema"])
    return a.eval(), p.eval()


def predict(a, p, ids, dur, frames):
    """Frames [T,47] with the teacher's durations, and the voice's own durations [N]."""
    steps = (frames + 1) // 2
    with torch.no_grad():
        x, logd = a.encode(ids)
        y = a.decode(upsample(x, dur / 2, steps))[0] * a.std + a.mean
        lf0 = p.decode(upsample(p.encode(ids), dur / 2, steps))[0, :, 0] * p.std[ORDER] + p.mean[ORDER]
        own = (torch.exp(logd[0]) - 1).clamp(min=0) * a.timed[ids[0]]
    y[:, ORDER] = (y[:, ORDER] + lf0) / 2
    return y.numpy()[:frames], own.numpy()


def compare(a, p, text, spoken, dur, mgc, lf0):
    """The measurements of one sentence, without silence at the ends."""
    mgc, lf0 = restyle(text, spoken, dur, mgc, lf0)
    last = np.nonzero(dur)[0][-1]
    ids = torch.tensor([phonemes.ids(spoken, pad=False)])
    y, own = predict(a, p, ids, torch.tensor(dur, dtype=torch.float32)[None], len(mgc))
    inside = slice(int(dur[0]), len(mgc) - int(dur[last]))
    y, mgc, lf0 = y[inside], mgc[inside], lf0[inside]
    voiced = lf0 > 0
    both = voiced & (y[:, -1] > 0)
    timed = dur > 0
    timed[[0, last]] = False
    return {
        "distortion": DB * np.sqrt(((y[:, 1:ORDER] - mgc[:, 1:]) ** 2).sum(1)).mean(),
        "cents": (CENT * (y[both, ORDER] - lf0[both])) ** 2,
        "correlation": np.corrcoef(y[both, ORDER], lf0[both])[0, 1],
        "voicing": (voiced != (y[:, -1] > 0)).mean(),
        "duration": np.abs(own[timed] - dur[timed]) * 5,
        "variation": np.append(mgc.std(0) / y[:, :ORDER].std(0), lf0[both].std() / y[both, ORDER].std()),
    }


def measure(acoustic, pitch, features, variation=None):
    a, p = nets(acoustic, pitch)
    all_of = [compare(a, p, *u) for u in data.stored(features)]
    mean = lambda k: np.mean([s[k] for s in all_of])  # noqa: E731
    joined = lambda k: np.concatenate([s[k] for s in all_of]).mean()  # noqa: E731
    print(
        f"distortion {mean('distortion'):.2f} dB, F0 error {np.sqrt(joined('cents')):.0f} cents, "
        f"F0 correlation {mean('correlation'):.3f}, voicing errors {100 * mean('voicing'):.1f} %, "
        f"duration error {joined('duration'):.1f} ms a symbol"
    )
    if variation:
        np.save(variation, np.median([s["variation"] for s in all_of], 0))


if __name__ == "__main__":
    measure(*sys.argv[1:])
