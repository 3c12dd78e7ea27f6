"""The voice as one ONNX file with Piper's interface, and its .onnx.json.

export.py ACOUSTIC PITCH VARIATION OUT.onnx [--tract X] [--f0 X]

Inputs: input int64 [1,N] (ids, with pads or without), input_lengths int64 [1],
scales float32 [3]: noise_scale, length_scale, noise_w. Output: float32 [1,1,1,T]
in -1..1. noise_scale scales the breath in voiced sounds (0.667 as trained);
noise_w varies the lengths of sounds randomly (0, the default, gives the same
samples each time). VARIATION widens spectrum and pitch to the teacher's
(measure.py writes it). --tract and --f0 make another speaker: factors for the
length of the vocal tract and for the pitch.
"""

import argparse
import json
import os
import warnings

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import nn

from data import ORDER
from model import Acoustic, Pitch, upsample
from phonemes import IDS, PAD, SYMBOLS
from vocoder import Vocoder

RATE = 22050
LEVEL = 0.126  # root mean square of the loud parts of every sentence: -18 dB
FADE = 0.005  # seconds at either end
OPSET = 15
WIDEN = 1.0  # share (as an exponent) of the missing variation that is restored

# Symbols that espeak-ng does not use for American English sound like their nearest neighbour.
NEIGHBOUR = {
    **dict(zip("grxyɝɒɫɨʉɻʁçcqɞɘɵøœβɸχɣɲʎʍʋɱ", "ɡɹkjɜɑlᵻuɹɹhkkɜəoɜɜvfkɡnlwvm")),
    **dict(zip("ʂʐɕʑɖʈɳɭɽʀɦħʝɟʦɤɯɶʏεɬɮɥɰˑʕ", "ʃʒʃʒdtnlɾɹhhjɡtʌuæɪɛllwwːʔ")),
}
KNOWN = "^$ !,.:;?abdefhijklmnopstuvwzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒʔˈˌːθᵻ\u0303\u0329"


class Voice(nn.Module):
    def __init__(self, acoustic, pitch, vocoder, widen, f0):
        super().__init__()
        self.acoustic, self.pitch, self.vocoder = acoustic, pitch, vocoder
        self.widen, self.f0 = widen, f0  # of log F0 about its mean; of F0
        self.centre = float(acoustic.mean[ORDER])

    def forward(self, ids, counts, scales):
        n = torch.arange(ids.shape[1])
        kept = torch.nonzero(((ids[0] != PAD) & (n < counts[0])) | (n == 0))[:, 0]  # no pads, but never nothing
        ids = ids.index_select(1, kept)
        x, logd = self.acoustic.encode(ids)
        chance = torch.exp(torch.randn_like(logd) * (0.06 * scales[2]))
        frames = torch.clamp(torch.exp(logd) - 1, min=0.0) * self.acoustic.timed[ids]
        d = frames * chance * (scales[1] * 0.5)
        steps = torch.clamp(torch.round(d.sum()), min=2.0).to(torch.int64)
        y = self.acoustic.decode(upsample(x, d, steps)) * self.acoustic.std + self.acoustic.mean
        second = self.pitch.decode(upsample(self.pitch.encode(ids), d, steps))[..., 0]
        lf0 = (y[..., ORDER] + second * self.pitch.std + self.pitch.mean) / 2
        lf0 = self.centre + self.widen * (lf0 - self.centre)
        f0 = torch.exp(torch.clamp(lf0, 4.2, 6.0)) * self.f0
        voicing = torch.clamp(torch.sigmoid(y[..., ORDER + 1]) * 3 - 1, 0.0, 1.0)
        wave = self.vocoder(y[..., :ORDER], f0, voicing, torch.clamp(scales[0] / 0.667, 0.0, 1.5))
        wave = wave * (d.sum() >= 1).to(torch.float32)  # symbols that take no time make no sound
        return self.finish(wave)[:, None, None]

    def finish(self, wave):
        """[1,T]: one level for every sentence, a soft limit above 0.8, fades at the ends."""
        power = (wave * wave).reshape(-1, self.vocoder.hop).mean(1)
        loud = (power > 0.001 * power.max()).to(torch.float32)
        rms = torch.sqrt((power * loud).sum() / (loud.sum() + 1e-9))
        wave = wave * torch.clamp(LEVEL / (rms + 1e-9), 0.0, 2 * self.gain)
        size = torch.abs(wave)
        wave = torch.sign(wave) * (torch.clamp(size, max=0.8) + 0.2 * torch.tanh(torch.clamp(size - 0.8, min=0.0) * 5))
        i = torch.arange(wave.shape[1]).to(torch.float32)
        edge = torch.minimum(i, wave.shape[1] - 1 - i)
        return wave * torch.clamp(edge / (RATE * FADE), max=1.0)

    gain = 2.2 / 32768  # what brings the teacher's level near LEVEL; more than twice that only lifts silence


def voice(acoustic, pitch, variation, tract=1.0, f0=1.0):
    """The whole graph, from the two checkpoints and measure.py's ratios."""
    a, p = Acoustic(), Pitch()
    state = torch.load(pitch)["ema"]
    mean, std = state.pop("mean"), state.pop("std")
    p.load_state_dict(state)
    a.load_state_dict(torch.load(acoustic)["ema"])
    widen = torch.tensor(np.clip(np.load(variation), 1, 1.3).astype("f4")) ** WIDEN
    a.std[1:ORDER] *= widen[1:ORDER]
    p.register_buffer("mean", mean[ORDER])
    p.register_buffer("std", std[ORDER])
    with torch.no_grad():
        for net in a, p:
            settle(net.emb.weight)
            settle(net.kinds)
        a.timed.copy_(a.timed[nearest()])
        a.timed[[i for i in range(SYMBOLS) if i not in spoken()]] = 0
    return Voice(a, p, Vocoder(RATE, tract), float(widen[ORDER]), f0).eval()


def spoken():
    return {IDS[c] for c in list(KNOWN) + list(NEIGHBOUR)}


def nearest():
    """The id whose sound every id has; digits, clicks, tones and unknown ids like a space."""
    to = [i if i in spoken() else IDS[" "] for i in range(SYMBOLS)]
    for symbol, other in NEIGHBOUR.items():
        to[IDS[symbol]] = IDS[other]
    return to


def settle(table):
    table.copy_(table[nearest()].clone())


def halve(model):
    """Store the weights as 16-bit floats; the runtime converts them to 32 bits."""
    kept, casts = [], []
    for t in model.graph.initializer:
        a = numpy_helper.to_array(t)
        if a.dtype == np.float32 and a.size > 2000 and "log_magnitude" not in t.name and "phase" not in t.name:
            kept.append(numpy_helper.from_array(a.astype(np.float16), t.name + "_half"))
            casts.append(helper.make_node("Cast", [t.name + "_half"], [t.name], to=onnx.TensorProto.FLOAT))
        else:
            kept.append(t)
    nodes = casts + list(model.graph.node)
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)


def config(name):
    return {
        "audio": {"sample_rate": RATE, "quality": "medium"},
        "espeak": {"voice": "en-us"},
        "phoneme_type": "espeak",
        "phoneme_map": {},
        "phoneme_id_map": {symbol: [i] for symbol, i in IDS.items()},
        "num_symbols": SYMBOLS,
        "num_speakers": 1,
        "speaker_id_map": {},
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0},
        "hop_length": 2 * round(RATE * 0.005),
        "language": {
            "code": "en_US",
            "family": "en",
            "region": "US",
            "name_native": "English",
            "name_english": "English",
            "country_english": "United States",
        },
        "dataset": name.split("-")[1],
        "piper_version": "1.0.0",
    }


# Metadata that other loaders of Piper's voices read from the file.
PROPERTIES = {
    "model_type": "vits",
    "comment": "piper",
    "language": "English",
    "voice": "en-us",
    "has_espeak": "1",
    "n_speakers": "1",
    "sample_rate": str(RATE),
    "description": "Trained on the output of cmu_us_slt_arctic_hts (CMU, licence EST-2003); a modified work",
}


def export(net, out):
    ids = torch.tensor([[1, 0, 20, 0, 59, 0, 24, 0, 120, 0, 27, 0, 100, 0, 10, 0, 2]])
    example = (ids, torch.tensor([ids.shape[1]]), torch.tensor([0.667, 1.0, 0.0]))
    torch.onnx.export(
        net, example, out, opset_version=OPSET,
        input_names=["input", "input_lengths", "scales"], output_names=["output"],
        dynamic_axes={"input": {0: "batch_size", 1: "phonemes"}, "input_lengths": {0: "batch_size"}, "output": {0: "batch_size", 3: "time"}},
    )  # fmt: skip
    model = onnx.load(out)
    halve(model)
    helper.set_model_props(model, PROPERTIES)
    onnx.checker.check_model(model)
    onnx.save(model, out)
    with open(out + ".json", "w", encoding="utf-8") as f:
        json.dump(config(os.path.basename(out)), f, ensure_ascii=False, indent=2)
    print(out, os.path.getsize(out), "bytes")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    arguments = argparse.ArgumentParser()
    for a in "acoustic", "pitch", "variation", "out":
        arguments.add_argument(a)
    arguments.add_argument("--tract", type=float, default=1.0)
    arguments.add_argument("--f0", type=float, default=1.0)
    o = arguments.parse_args()
    export(voice(o.acoustic, o.pitch, o.variation, o.tract, o.f0), o.out)
