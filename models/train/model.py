"""The network: ids to durations, mel-cepstra, voicing (Acoustic) and pitch (Pitch).

A decoder step is 10 ms and gives two frames of 5 ms. All modules can be
exported to ONNX; shapes are [batch, channels, time] unless stated otherwise.
"""

import torch
import torch.nn.functional as F
from torch import nn

from data import FRAME
from phonemes import EOS, IDS, MARKS, SYMBOLS, VOWELS

PLACE = 5  # features of a step's place within its symbol


class ChannelNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.g = nn.Parameter(torch.ones(1, d, 1))
        self.b = nn.Parameter(torch.zeros(1, d, 1))

    def forward(self, x):
        x = x - x.mean(1, keepdim=True)
        return x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5) * self.g + self.b


class Block(nn.Module):
    """A residual convolution; the sum stays in 32 bits under autocast."""

    def __init__(self, d, k, dilation=1):
        super().__init__()
        self.n = ChannelNorm(d)
        self.c = nn.Conv1d(d, d, k, padding=dilation * (k - 1) // 2, dilation=dilation)

    def forward(self, x, mask=None):
        h = self.n(x)
        if mask is not None:
            h = h * mask
        return x + F.relu(self.c(h)).float()


class Encoder(nn.Module):
    """Embedding or features [B,N,D] to [B, D + 2*hidden, N]."""

    def __init__(self, d, hidden, blocks):
        super().__init__()
        self.enc = nn.ModuleList([Block(d, 5) for _ in range(blocks)])
        self.lstm = nn.LSTM(d, hidden, batch_first=True, bidirectional=True)

    def forward(self, x, counts=None):
        x = x.transpose(1, 2)
        mask = None
        if counts is not None:
            mask = (torch.arange(x.shape[2], device=x.device)[None] < counts[:, None]).to(x.dtype)[:, None]
        for block in self.enc:
            x = block(x, mask)
        h = self.recur(x.transpose(1, 2), counts).transpose(1, 2)
        x = torch.cat([x, h], 1)
        return x if mask is None else x * mask

    def recur(self, x, counts):
        if counts is None:
            return self.lstm(x)[0]
        with torch.autocast(x.device.type, enabled=False):
            packed = nn.utils.rnn.pack_padded_sequence(x.float(), counts.cpu(), batch_first=True, enforce_sorted=False)
            return nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]


class Decoder(nn.Module):
    """[B,C,T] steps to [B,2T,width] frames."""

    def __init__(self, c, d, dilations, width):
        super().__init__()
        self.width = width
        self.inp = nn.Conv1d(c, d, 1)
        self.dec = nn.ModuleList([Block(d, 3, x) for x in dilations])
        self.on = ChannelNorm(d)
        self.out = nn.Conv1d(d, 2 * width, 1)

    def forward(self, z, mask=None):
        x = self.inp(z).float()
        for block in self.dec:
            x = block(x, mask)
        with torch.autocast(x.device.type, enabled=False):
            y = self.out(F.relu(self.on(x)))
        b, _, t = y.shape
        return y.view(b, 2, self.width, t).permute(0, 3, 1, 2).reshape(b, 2 * t, self.width)


class Acoustic(nn.Module):
    """Durations, and frames in units of the standard deviation (log F0 among them).

    The teacher's melody and rhythm hang on where a syllable stands in its word,
    phrase and sentence, which a recurrent net is slow to learn to count. So the
    counts are taken from the ids and given to it.
    """

    def __init__(self, d=192, hidden=160, dd=256, dilations=(1, 1, 2, 2, 4, 4, 8, 1)):
        super().__init__()
        wide = d + 2 * hidden
        self.register_buffer("kinds", kinds())
        self.emb = nn.Embedding(SYMBOLS, d)
        self.seen = nn.Linear(COUNTS, d)
        self.encoder = Encoder(d, hidden, 3)
        self.dur1 = nn.Conv1d(wide, 128, 3, padding=1)
        self.dur2 = nn.Conv1d(128, 1, 1)
        self.decode = Decoder(wide + PLACE, dd, dilations, FRAME)
        self.register_buffer("mean", torch.zeros(FRAME))
        self.register_buffer("std", torch.ones(FRAME))
        self.register_buffer("timed", torch.ones(SYMBOLS))  # 0 for symbols that take no time

    def encode(self, ids, counts=None):
        """Encodings [B,C,N] and log(1 + frames) per symbol [B,N]."""
        x = self.encoder(self.emb(ids) + self.seen(places(self.kinds[ids])), counts)
        return x, self.dur2(F.relu(self.dur1(x)).float())[:, 0].float()


class Pitch(nn.Module):
    """Log F0 in units of the standard deviation, [B,2T,1]."""

    def __init__(self, d=128, hidden=112, dd=128, dilations=(1, 2, 4, 8, 16)):
        super().__init__()
        self.register_buffer("kinds", kinds())
        self.emb = nn.Embedding(SYMBOLS, d)
        self.seen = nn.Linear(COUNTS, d)
        self.encoder = Encoder(d, hidden, 2)
        self.decode = Decoder(d + 2 * hidden + PLACE, dd, dilations, 1)

    def encode(self, ids, counts=None):
        return self.encoder(self.emb(ids) + self.seen(places(self.kinds[ids])), counts)


COUNTS = 16


def kinds():
    """For every symbol 1 where it is a vowel, a stress, the end of a word, the end of a phrase: [SYMBOLS,4]."""
    out = torch.zeros(SYMBOLS, 4)
    out[[IDS[c] for c in VOWELS], 0] = 1
    out[[IDS[c] for c in "ˈ"], 1] = 1
    out[[IDS[c] for c in " " + MARKS] + [EOS], 2] = 1
    out[[IDS[c] for c in MARKS] + [EOS], 3] = 1
    return out


def places(kind):
    """The position of each symbol: [B,N,4] of kinds (vowel, stress, end of word, end of phrase) to [B,N,16].

    Vowels before and after in the word; vowels, stresses and words before and after
    in the phrase; all four before and after in the sentence.
    """
    before = torch.cumsum(kind, 1) - kind
    after = before[:, -1:] + kind[:, -1:] - before
    n = torch.arange(kind.shape[1], device=kind.device)
    past = (n[None, :] < n[:, None]).to(kind.dtype)[None]  # [1,N,N]: column before row
    out = [before, after]
    for end, what in ((2, (0,)), (3, (0, 1, 2))):
        edge = kind[:, None, :, end]
        for w in what:
            left = (edge * past * before[:, None, :, w]).amax(2)
            right = (edge * (1 - past) * after[:, None, :, w]).amax(2)
            out.append(torch.stack([before[:, :, w] - left, after[:, :, w] - right], 2))
    return torch.log1p(torch.clamp(torch.cat(out, 2), min=0.0))


def upsample(x, dur, steps):
    """Encodings [B,C,N] and durations [B,N] in steps (real numbers) to [B,C+5,steps]."""
    end = torch.cumsum(dur, 1)
    start = end - dur
    t = torch.arange(steps, device=x.device).to(torch.float32) + 0.5
    at = (t[None, :, None] >= end[:, None, :]).to(torch.int64).sum(2)
    at = torch.minimum(at, torch.tensor(x.shape[2] - 1, device=x.device))
    a, b, d = t[None] - start.gather(1, at), end.gather(1, at) - t[None], dur.gather(1, at)
    place = [a / (d + 1e-3), torch.clamp(a, -1, 10) * 0.2, torch.clamp(b, -1, 10) * 0.2, torch.log(1 + d), 1 / (1 + d)]
    spread = x.gather(2, at[:, None, :].expand(-1, x.shape[1], -1))
    return torch.cat([spread, torch.stack(place, 1)], 1)
