"""The weighted mean of two checkpoints, one trained from the other: mix.py FIRST SECOND SHARE OUT

SHARE is the weight of the second. Some means of a net and its continuation on other
sentences are nearly as good as each net on its own sentences.
"""

import sys

import torch

if __name__ == "__main__":
    first, second, share, out = sys.argv[1:]
    a, b = torch.load(first)["ema"], torch.load(second)["ema"]
    torch.save({"ema": {name: torch.lerp(a[name], b[name], float(share)) for name in b}}, out)
