"""The vocoder: mel-cepstra, pitch and voicing to samples, without trained weights.

A pulse train and noise are taken apart by a short-time Fourier transform, filtered
every 5 ms by exp(sum c_m z~^-m), which is the minimum-phase filter of the teacher's
own vocoder (MLSA), and put together again. The tables of sines are computed in the
graph from a few numbers, so that they do not enlarge the file.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from data import ORDER

WARP, TEACHER_RATE = 0.45, 32000  # the all-pass constant and the sample rate of the teacher's analysis
FFT = {16000: 512, 22050: 768, 32000: 1024}
NOISE = 32768  # samples of noise, used round and round


class Vocoder(nn.Module):
    """mgc [1,T,45], f0 [1,T] in Hz, voicing [1,T] in 0..1 and breath [] to audio [1,T*hop].

    tract is how much longer than the teacher's the vocal tract is: 1.15 puts every
    formant 15 % lower.
    """

    def __init__(self, rate, tract=1.0):
        super().__init__()
        self.rate, self.fft, self.hop = rate, FFT[rate], round(rate * 0.005)
        self.bins = self.fft // 2 + 1
        f = np.arange(self.bins) * rate / self.fft
        w = 2 * np.pi * f * tract / TEACHER_RATE
        w = w + 2 * np.arctan(WARP * np.sin(w) / (1 - WARP * np.cos(w)))
        angle = np.arange(ORDER)[:, None] * w
        self.keep("log_magnitude", np.cos(angle))
        self.keep("phase", -np.sin(angle))
        self.keep("hann", 0.5 - 0.5 * np.cos(np.pi * (np.arange(2 * self.hop) + 0.5) / self.hop))
        self.keep("bin", np.arange(self.bins)[:, None])
        self.keep("window", np.arange(2 * self.hop)[None])
        self.keep("period", np.arange(self.fft)[None])
        twice = np.full((self.bins, 1), 2.0)
        twice[[0, -1]] = 1
        self.keep("twice", twice / self.fft)
        pulses = 1 - 0.75 * np.clip((f - 2500) / 4000, 0, 1)  # high up, even a voiced frame is mostly noise
        self.keep("pulses", pulses[None, :, None])
        self.keep("noise", np.random.RandomState(7).randn(NOISE) * math.sqrt(rate / TEACHER_RATE))
        self.keep("within", np.arange(self.hop) / self.hop)

    def keep(self, name, array):
        self.register_buffer(name, torch.tensor(np.ascontiguousarray(array), dtype=torch.float32))

    def sines(self, n):
        """Cosine and sine of 2 pi bin n / fft, [bins, len(n)]; the angle is reduced while it is a whole number."""
        turns = torch.matmul(self.bin, n)
        turns = turns - self.fft * torch.floor(turns / self.fft)
        angle = turns * (2 * math.pi / self.fft)
        return torch.cos(angle), torch.sin(angle)

    def analyse(self, x):
        cos, sin = self.sines(self.window)
        return F.conv1d(x, (torch.cat([cos, -sin]) * self.hann)[:, None], stride=self.hop)

    def synthesise(self, y):
        cos, sin = self.sines(self.period)
        return F.conv_transpose1d(y, torch.cat([self.twice * cos, -self.twice * sin])[:, None], stride=self.hop)

    def excitation(self, f0):
        """A band-limited pulse train as a closed sum of cosines, and its phase in -0.5..0.5: [1,T,hop] each."""
        after = torch.cat([f0[:, 1:], f0[:, -1:]], 1)
        seconds = self.hop / self.rate
        turns = (f0 + after) * (0.5 * seconds)
        end = torch.cumsum(turns.double(), 1)
        end = (end - torch.floor(end)).float()
        u = self.within
        phase = (end - turns)[:, :, None] + seconds * (f0[:, :, None] * u + (after - f0)[:, :, None] * (u * u * 0.5))
        phase = phase - torch.floor(phase + 0.5)
        harmonics = torch.floor(0.5 * self.rate / torch.maximum(f0, after))[:, :, None]
        sine = torch.sin(math.pi * phase)
        at_peak = torch.abs(phase) < 1e-5
        safe = torch.where(at_peak, torch.ones_like(sine), sine)
        slope = 0.5 * torch.sin((2 * harmonics + 1) * math.pi * phase) / safe - 0.5
        train = torch.where(at_peak, harmonics + torch.zeros_like(phase), slope)
        return train * (2 * torch.sqrt(f0 / TEACHER_RATE))[:, :, None], phase

    def forward(self, mgc, f0, voicing, breath):
        steps, half, bins = mgc.shape[1], self.hop // 2, self.bins
        train, phase = self.excitation(f0)
        voiced = (voicing[:, :, None] + torch.zeros_like(phase)).reshape(1, 1, -1)
        # In voiced frames the noise swells with the glottal cycle, otherwise it would sound like a separate hiss.
        swell = (1 + 0.7 * voiced * torch.cos(2 * math.pi * phase).reshape(1, 1, -1)) * torch.rsqrt(1 + 0.245 * voiced * voiced)
        at = torch.arange(steps * self.hop + self.hop) % NOISE
        n = self.analyse(self.noise[at][None, None] * F.pad(swell, (half, half), value=1.0))
        p = self.analyse(F.pad(train.reshape(1, 1, -1), (half, half)))
        v = voicing[:, None]
        of_p = self.pulses * v
        of_n = torch.sqrt(torch.clamp(1 - of_p * of_p, min=0.0)) * (1 - v + v * breath)
        real = p[:, :bins] * of_p + n[:, :bins] * of_n
        imaginary = p[:, bins:] * of_p + n[:, bins:] * of_n
        magnitude = torch.exp(torch.matmul(mgc, self.log_magnitude)).transpose(1, 2)
        turn = torch.matmul(mgc, self.phase).transpose(1, 2)
        h, i = magnitude * torch.cos(turn), magnitude * torch.sin(turn)
        y = self.synthesise(torch.cat([real * h - imaginary * i, real * i + imaginary * h], 1))
        return y[:, 0, half : half + steps * self.hop]
