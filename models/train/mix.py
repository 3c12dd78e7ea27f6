"""The weighted mean of two checkpoints, one trained on from the other: mix.py FIRST SECOND SHARE OUT

SHARE is the second's. Between a net and what more training on other sentences made
of it there are some that are nearly as good on both kinds.
"""

import sys

import torch

if __name__ == "__main__":
    first, second, share, out = sys.argv[1:]
    a, b = torch.load(first)["ema"], torch.load(second)["ema"]
    torch.save({"ema": {name: torch.lerp(a[name], b[name], float(share)) for name in b}}, out)
