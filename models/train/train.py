"""Training: train.py acoustic|pitch FEATURES[,FEATURES] OUT MINUTES [FROM [RATE]]

acoustic trains the large net, pitch the small one for log F0 only. The learning
rate follows a cosine over the wall-clock time. An exponential moving average of the
weights is written to OUT every minute, so a run may be stopped at any time and
resumed with that file as FROM. RATE is the highest learning rate; a nearly trained
net resumes best with a third of the default. The environment variable THREADS (2) is
the number of threads.
"""

import copy
import math
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import data
from data import ORDER
from model import Acoustic, Pitch, upsample
from phonemes import IDS, SYMBOLS, TIMELESS

DB = 6.142  # mel-cepstral distance to dB
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def acoustic(net, batch):
    """The loss, and its parts: duration, spectrum, its change, log F0, voicing; and the distortion in dB."""
    ids, counts, dur, y, mask = batch
    x, logd = net.encode(ids, counts)
    timed = (torch.arange(ids.shape[1], device=ids.device)[None] < counts[:, None]).float() * net.timed[ids]
    duration = ((logd - torch.log1p(dur)).abs() * timed).sum() / timed.sum()
    p = net.decode(upsample(x, dur / 2, mask.shape[2]), mask)
    error = p - (y - net.mean) / net.std
    frames = mask[:, 0].repeat_interleave(2, 1)
    weight = net.std[:ORDER] ** 0.5
    weight = torch.cat([weight[1:2], weight[1:]])
    weight = weight / weight.mean()
    spectrum = ((error[..., :ORDER].abs() * weight).mean(2) * frames).sum() / frames.sum()
    change = error[:, 1:, :ORDER] - error[:, :-1, :ORDER]
    change = ((change.abs() * weight).mean(2) * frames[:, 1:]).sum() / frames.sum()
    voiced = y[..., -1]
    share = frames * (voiced + 0.05)
    lf0 = (error[..., ORDER].abs() * share).sum() / share.sum()
    voicing = F.binary_cross_entropy_with_logits(p[..., -1], voiced, reduction="none")
    voicing = (voicing * frames).sum() / frames.sum()
    db = (DB * ((error[..., 1:ORDER] * net.std[1:ORDER]) ** 2).sum(2).sqrt() * frames).sum() / frames.sum()
    loss = duration + spectrum + 0.5 * change + 0.5 * lf0 + 0.5 * voicing
    return loss, (duration, spectrum, change, lf0, voicing, db)


def pitch(net, batch):
    """The loss, and its parts: mean absolute and mean square error of log F0 where there is voice."""
    ids, counts, dur, y, mask = batch
    p = net.decode(upsample(net.encode(ids, counts), dur / 2, mask.shape[2]), mask)[..., 0]
    error = p - (y[..., ORDER] - net.mean[ORDER]) / net.std[ORDER]
    share = mask[:, 0].repeat_interleave(2, 1) * (y[..., -1] + 0.02)
    absolute = (error.abs() * share).sum() / share.sum()
    square = (error**2 * share).sum() / share.sum()
    return absolute + square, (absolute, square)


# What each kind trains: the net, its loss, the highest learning rate, the decoder steps in a batch.
KINDS = {
    "acoustic": (Acoustic, acoustic, 1.2e-3, 3600),
    "pitch": (Pitch, pitch, 1.2e-3, 2400),
}


def new(make, utterances, start):
    net = make()
    mean, std = data.statistics(utterances)
    if make is Acoustic:
        net.timed[[IDS[c] for c in TIMELESS]] = 0
    net.register_buffer("mean", mean)
    net.register_buffer("std", std)
    if start:
        net.load_state_dict(torch.load(start, map_location="cpu")["ema"])
    return net.to(DEVICE)


def collate(batch):
    return [t.to(DEVICE) for t in data.collate(batch)]


class Run:
    """One training run: the net, its moving average, and the clock that the learning rate follows."""

    def __init__(self, net, loss, rate, minutes):
        self.loss, self.rate = loss, rate
        self.net, self.ema = net, copy.deepcopy(net).eval()
        self.optimizer = torch.optim.AdamW(net.parameters(), rate, betas=(0.9, 0.98), weight_decay=1e-3)
        self.begun, self.seconds, self.steps = time.time(), minutes * 60, 0

    def done(self):
        return (time.time() - self.begun) / self.seconds

    def step(self, batch):
        rate = self.rate * min(1, (self.steps + 1) / 150) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(1, self.done()))))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(DEVICE, dtype=torch.bfloat16):  # 2 to 3 times as fast where the processor knows it
            loss, parts = self.loss(self.net, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.steps += 1
        keep = min(0.998, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            for average, now in zip(self.ema.parameters(), self.net.parameters()):
                average.lerp_(now, 1 - keep)
        return [float(p) for p in parts]

    def validate(self, batches):
        with torch.no_grad():
            return np.mean([[float(p) for p in self.loss(self.ema, b)[1]] for b in batches], 0)

    def save(self, path):
        state = {name: t.cpu() for name, t in self.ema.state_dict().items()}
        torch.save({"ema": state, "steps": self.steps}, path)


def train(kind, features, out, minutes, start=None, highest=None):
    torch.set_num_threads(int(os.environ.get("THREADS", "2")))
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    utterances, held_out = data.load(features.split(","))
    validation = [collate(held_out[i::2]) for i in range(2)]
    make, loss, rate, steps = KINDS[kind]
    run = Run(new(make, utterances, start), loss, float(highest or rate), float(minutes))
    print(len(utterances), "utterances,", sum(p.numel() for p in run.net.parameters()), "parameters", flush=True)
    report, parts = 0, []
    while run.done() < 1:
        for batch in data.batches(utterances, steps, rng):
            if run.done() >= 1:
                break
            parts.append(run.step(collate(batch)))
            if time.time() - run.begun >= report + 60:
                report = time.time() - run.begun
                print("minute %.1f step %d" % (report / 60, run.steps), "train", np.round(np.mean(parts, 0), 4),
                      "validation", np.round(run.validate(validation), 4), flush=True)
                parts = []
                run.save(out)
    run.save(out)
    print("end", run.steps, "steps, validation", np.round(run.validate(validation), 4), flush=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
