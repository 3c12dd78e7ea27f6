"""Checkpoints from a voice of export.py, to resume training: resume.py VOICE.onnx FEATURES[,FEATURES] ACOUSTIC PITCH

The weights have the precision of 16-bit floats. Changes of export.py are reverted:
the spread of each parameter is computed from the features again, and the kinds of
symbols are read from the table. Symbols that espeak-ng does not use retain the sound
of their neighbours.
"""

import sys

import onnx
import torch
from onnx import numpy_helper

import data
from model import COUNTS, Acoustic, Pitch, kinds


def weights(model):
    """What the file holds, by the name that it had in PyTorch."""
    out = {}
    for t in model.graph.initializer:
        out[t.name.removesuffix("_half")] = torch.tensor(numpy_helper.to_array(t).astype("f4"))
    nets = ["acoustic.", "pitch."]
    for net, node in zip(nets, [n for n in model.graph.node if n.op_type == "LSTM"]):
        w, r, b = (out[name] for name in node.input[1:4])
        half = b.shape[1] // 2
        for way, end in enumerate(["", "_reverse"]):
            at = {"weight_ih": w[way], "weight_hh": r[way], "bias_ih": b[way][:half], "bias_hh": b[way][half:]}
            out.update({f"{net}encoder.lstm.{name}_l0{end}": ordered(t) for name, t in at.items()})
    for net in nets:  # the exporter folds these into a product and drops their names
        wide = out[net + "seen.bias"].shape[0]
        out[net + "seen.weight"] = next(t for n, t in out.items() if "MatMul" in n and t.shape == (COUNTS, wide)).T
    return out


def ordered(t):
    """ONNX has the gates as input, output, forget, cell; PyTorch as input, forget, cell, output."""
    i, o, f, c = t.chunk(4)
    return torch.cat([i, f, c, o])


def main(path, features, *outs):
    found = weights(onnx.load(path))
    mean, std = data.statistics(data.load(features.split(","))[0])
    for net, prefix, out in zip((Acoustic(), Pitch()), ("acoustic.", "pitch."), outs):
        net.register_buffer("mean", mean)
        net.register_buffer("std", std)
        state = net.state_dict()
        state.update({n: found[prefix + n] for n in state if prefix + n in found}, mean=mean, std=std, kinds=kinds())
        missing = [n for n in state if prefix + n not in found and n not in ("mean", "std", "kinds")]
        if missing:
            raise SystemExit(f"resume.py: {path} has no {', '.join(missing)}")
        net.load_state_dict(state)
        torch.save({"ema": state, "steps": 0}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
