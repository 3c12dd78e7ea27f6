"""Measurements of the sound itself: listen.py DIR SENTENCES.jsonl

For each sentence's WAV: its first and last sample (a click is a jump from or to
silence), its peak, the level of its loud parts, and for yes/no questions whether
the pitch rises at the end. Pitch is estimated by autocorrelation.
"""

import json
import re
import sys

import numpy as np
import scipy.io.wavfile

from prosody import WH

WINDOW, HOP, GATE = 0.04, 0.01, 1e-3  # seconds, seconds, power relative to the loudest
LOWEST, HIGHEST = 60, 400  # Hz


def frames(x, rate):
    n, hop = int(WINDOW * rate), int(HOP * rate)
    x = np.pad(x, (0, n))
    return np.lib.stride_tricks.sliding_window_view(x, n)[::hop]


def level(x, rate):
    """dB below full scale of the frames in which there is speech."""
    power = (frames(x, rate) ** 2).mean(1)
    return 10 * np.log10(power[power > GATE * power.max()].mean())


def pitch(x, rate):
    """Hz of each frame, 0 without voice."""
    f = frames(x, rate)
    f = f - f.mean(1, keepdims=True)
    n = 2 * f.shape[1]
    r = np.fft.irfft(np.abs(np.fft.rfft(f, n)) ** 2, n)
    r = r[:, : f.shape[1]] / np.arange(f.shape[1], 0, -1)
    low, high = rate // HIGHEST, rate // LOWEST
    lag = low + r[:, low:high].argmax(1)
    strength = r[np.arange(len(r)), lag] / (r[:, 0] + 1e-9)
    # the shortest lag that is nearly as good, otherwise an octave is lost
    for i in np.nonzero(strength > 0.5)[0]:
        good = np.nonzero(r[i, low:high] > 0.9 * r[i, lag[i]])[0]
        lag[i] = low + good[0]
        while lag[i] + 1 < high and r[i, lag[i] + 1] > r[i, lag[i]]:
            lag[i] += 1
    loud = (f**2).mean(1) > 0.01 * (f**2).mean(1).max()
    return np.where((strength > 0.5) & loud, rate / lag, 0)


def rises(hz):
    voiced = hz[hz > 0]
    return np.median(voiced[-5:]) > np.median(voiced)


def main(folder, sentences):
    with open(sentences, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    ends, peaks, levels, tones, asked = [], [], [], [], []
    for row in rows:
        rate, x = scipy.io.wavfile.read(f"{folder}/{row['id']}.wav")
        x = x / 32768
        hz = pitch(x, rate)
        ends.append(max(abs(x[0]), abs(x[-1])))
        peaks.append(abs(x).max())
        levels.append(level(x, rate))
        tones.append(hz[hz > 0])
        if row["text"].endswith("?") and not re.match(WH, row["text"]):
            asked.append(rises(hz))
    middle = np.median(levels)
    print(
        f"ends {100 * max(ends):.2f} % of full scale, peak {max(peaks):.2f}, level {middle:.1f} dB "
        f"({min(levels) - middle:+.1f} to {max(levels) - middle:+.1f}), median F0 {np.median(np.concatenate(tones)):.0f} Hz, "
        f"{sum(asked)} of {len(asked)} questions rise"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
