"""Speaks each line of the standard input with Piper, and prints when its first and its last sound were there: two
numbers of nanoseconds, after a line that says "ready"."""

import sys
import time

from piper import PiperVoice

voice = PiperVoice.load(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    begun = time.monotonic_ns()
    times = [time.monotonic_ns() - begun for _ in voice.synthesize(line)]
    print(times[0], times[-1], flush=True)
