"""Makes the bundled voices: hibari's network "heart" with Piper's interface, phoneme ids in, samples out.

voices.py DIR

Writes en_US-heart-medium and en_US-heart_lower-medium, each as .onnx and .onnx.json, and hibari's LICENSE and NOTICE,
below DIR. "make voices" runs it with the packages of requirements.txt, with which it writes the same bytes each time.

hibari's graph ends at spectra and leaves the sound to its host. This appends that last step as ONNX operators. The two
Fourier transforms of 1200 points are done as 40 x 30 points (Cooley and Tukey 1965), which costs a twelfth of a full
matrix. The lower voice has the formants and the pitch of the first times a factor.

Inputs:  input int64 [1,N], ids with pads or without (0 is pad, BOS and EOS);
         input_lengths int64 [1]; scales float32 [3]: noise_scale, length_scale, noise_w (no effect).
Output:  output float32 [1,1,1,T], in -1..1, 24,000 samples a second; the same ids give the same samples.
"""

import json
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE, HOP, SIZE = 24000, 300, 1200
BINS = SIZE // 2 + 1
N1, N2 = 40, 30  # SIZE as a product
K1 = N1 // 2 + 1  # the rest follows by symmetry, as samples are real
LEVEL = 0.126  # root mean square of the loud parts: -18 dB
PERIODS = 101, 37  # frames after which the two noise tables repeat; together 47 s
FADE = 0.005  # seconds at either end
QUIET = 3e-5  # share of the loudest frame's power below which a frame is silence: -45 dB
LEAD, TRAIL = 2, 5  # silent frames left before and after
VOICES = {"heart": (1.0, 1.0), "heart_lower": (0.925, 0.81)}  # factors of the formants' and the voice's frequency

# The sounds of espeak-ng's English, en-us and en-gb, in the symbols that the network was trained on: those of Kokoro's
# American English. A sound that is its own symbol is not listed; "" is silent.
DIPHTHONGS = {"aɪ": "I", "aʊ": "W", "eɪ": "A", "oʊ": "O", "əʊ": "O", "ɔɪ": "Y"}
AFFRICATES = {"tʃ": "ʧ", "dʒ": "ʤ"}
LONG = {"iː": "i", "uː": "u", "ɑː": "ɑ", "aː": "ɑ", "ɔː": "ɔ", "oː": "ɔ", "ɜː": "ɜɹ", "ɜːɹ": "ɜɹ", "ɛː": "ɛ", "æː": "æ"}
SYLLABIC = {"n\u0329": "ᵊn", "l\u0329": "ᵊl", "m\u0329": "ᵊm", "ɹ\u0329": "əɹ", "ʔn\u0329": "tᵊn", "ʔˌn\u0329": "tᵊn"}
JOINED = {**DIPHTHONGS, **AFFRICATES, **LONG, **SYLLABIC, "ʔn": "tn", "c\u0327": "k"}
SINGLE = {
    # vowels of other accents, and of words that English has borrowed
    "a": "æ", "e": "A", "o": "ɔ", "ɒ": "ɑ", "ɐ": "ə", "ɚ": "əɹ", "ɝ": "ɜɹ", "y": "i", "ø": "ɜ", "œ": "ɜ", "ɨ": "ɪ",
    "ʏ": "ʊ",
    # consonants
    "ɾ": "T", "ʔ": "t", "g": "ɡ", "r": "ɹ", "ʁ": "ɹ", "x": "k", "χ": "k", "c": "k", "q": "k", "ɣ": "ɡ",
    "ɬ": "l", "ɫ": "l", "ʎ": "lj", "ɲ": "nj", "ɸ": "f", "β": "v", "ʋ": "v", "ɕ": "ʃ", "ʂ": "ʃ", "ʑ": "ʒ", "ʐ": "ʒ",
    # marks: length that no vowel above has, nasal, syllabic, cedilla, a palatal after-sound
    "ː": "", "\u0303": "", "\u0329": "", "\u0327": "", "ʲ": "j", "'": "", "-": "—", "–": "—",
}
UNHEARD = "AIOQSTWYʣʥʦʨᵝꭧɖɟɥʝɯɰɳɴɻɽʈɤʰ↓→↗↘"  # symbols that are no sound of espeak-ng's English


class Graph:
    """Appends operators to an ONNX graph; every method returns a tensor's name."""

    def __init__(self, graph):
        self.graph, self.count, self.consts = graph, 0, {}

    def const(self, value, dtype=np.float32):
        array = np.asarray(np.round(value, 12), dtype)  # beyond, libraries of mathematics differ
        key = (array.tobytes(), array.shape, array.dtype.str)
        if key not in self.consts:
            name = f"sound.c{len(self.consts)}"
            self.graph.initializer.append(numpy_helper.from_array(array, name))
            self.consts[key] = name
        return self.consts[key]

    def __getattr__(self, op):
        def add(*inputs, outputs=1, **attributes):
            names = [f"sound.{self.count}.{i}" for i in range(outputs)]
            self.count += 1
            inputs = [i if isinstance(i, str) else self.const(i) for i in inputs]
            self.graph.node.append(helper.make_node(op, inputs, names, **attributes))
            return names[0] if outputs == 1 else names

        return add

    def ints(self, *values):
        return self.const(values, np.int64)

    def reshape(self, x, *shape):
        return self.Reshape(x, self.ints(*shape))

    def slice(self, x, start, stop, axis):
        return self.Slice(x, self.ints(start), self.ints(stop), self.ints(axis))


def factors():
    """The constants of the transform: inner [2*K1,N1], twiddle re, im [K1,N2], outer [2*N2,2*N2]."""
    n1, k1 = np.arange(N1), np.arange(K1)
    inner = np.exp(-2j * np.pi * np.outer(k1, n1) / N1)
    twiddle = np.exp(-2j * np.pi * np.outer(k1, np.arange(N2)) / SIZE)
    outer = np.exp(-2j * np.pi * np.outer(np.arange(N2), np.arange(N2)) / N2)
    return inner, twiddle, outer


def real(matrix):
    """A complex right factor [n,m] as the real [2n,2m] that acts on re, im side by side."""
    return np.block([[matrix.real, matrix.imag], [-matrix.imag, matrix.real]])


def places():
    """For each bin 0..600: where [K1,2*N2] has its real part, and whether it is a conjugate."""
    re, conjugate = np.empty(BINS, np.int64), np.zeros(BINS, bool)
    for k in range(BINS):
        mirrored = k % N1 >= K1
        m = SIZE - k if mirrored else k
        re[k], conjugate[k] = (m % N1) * 2 * N2 + m // N1, mirrored
    return re, conjugate


def spectrum(g, frames):
    """Frames [F,SIZE] -> real and imaginary parts [F,BINS]."""
    inner, twiddle, outer = factors()
    a = g.MatMul(np.concatenate([inner.real, inner.imag]), g.reshape(frames, -1, N1, N2))  # [F,2*K1,N2]
    re, im = g.slice(a, 0, K1, 1), g.slice(a, K1, 2 * K1, 1)
    tr, ti = twiddle.real, twiddle.imag
    b = g.Concat(g.Sub(g.Mul(re, tr), g.Mul(im, ti)), g.Add(g.Mul(re, ti), g.Mul(im, tr)), axis=2)
    c = g.reshape(g.MatMul(b, real(outer)), -1, K1 * 2 * N2)
    at, conjugate = places()
    sign = np.where(conjugate, -1, 1)
    return g.Gather(c, g.ints(*at), axis=1), g.Mul(g.Gather(c, g.ints(*(at + N2)), axis=1), sign)


def samples(g, re, im):
    """Real and imaginary parts [F,BINS] -> frames [F,SIZE], the inverse of spectrum."""
    inner, twiddle, outer = factors()
    index, sign = np.empty((K1, 2, N2), np.int64), np.empty((K1, 2, N2))
    for k1 in range(K1):
        for k2 in range(N2):
            k = k1 + N1 * k2
            m, s = (k, 1) if k < BINS else (SIZE - k, -1)
            index[k1, 0, k2], index[k1, 1, k2] = m, BINS + m
            sign[k1, 0, k2], sign[k1, 1, k2] = 1, s
    both = g.Concat(re, g.Mul(im, np.r_[0, np.ones(BINS - 2), 0]), axis=1)
    x = g.Mul(g.Gather(both, g.ints(*index.reshape(-1)), axis=1), sign.reshape(-1))
    d = g.MatMul(g.reshape(x, -1, K1, 2 * N2), real(outer.conj()))
    re, im = g.slice(d, 0, N2, 2), g.slice(d, N2, 2 * N2, 2)
    tr, ti = twiddle.real, -twiddle.imag
    e = g.Concat(g.Sub(g.Mul(re, tr), g.Mul(im, ti)), g.Add(g.Mul(re, ti), g.Mul(im, tr)), axis=1)
    weight = np.r_[1, np.full(K1 - 2, 2), 1] / SIZE
    last = np.concatenate([inner.real.T * weight, inner.imag.T * weight], 1)  # [N1,2*K1]
    return g.reshape(g.MatMul(last, e), -1, SIZE)


def pulses(g, f0):
    """Pitch [1,F], 0 where unvoiced -> a pulse train of all harmonics below 11 kHz, [1,F*HOP]."""
    f = g.Resize(f0, "", g.const([1, HOP]), mode="linear", coordinate_transformation_mode="half_pixel")
    voiced = g.Greater(f, 40)
    f = g.Max(f, 40)
    turns = g.Mul(g.CumSum(g.Cast(f, to=TensorProto.DOUBLE), g.const(1, np.int64)), g.const(1 / RATE, np.float64))
    t = g.Mul(g.Cast(g.Mod(turns, g.const(1, np.float64), fmod=1), to=TensorProto.FLOAT), 2 * np.pi)
    half = g.Add(g.Floor(g.Div(11000, f)), 0.5)
    s = g.Mul(g.Sin(g.Mul(t, 0.5)), 2)
    edge = g.LessOrEqual(g.Abs(s), 2e-3)
    e = g.Where(edge, half, g.Div(g.Sin(g.Mul(half, t)), g.Where(edge, 1, s)))
    return g.Where(voiced, g.Sub(e, 0.5), 0)


def overlap(g, blocks):
    """Blocks [F,4,HOP], each later one HOP on -> their sum [F+3,HOP]."""
    parts = []
    for k in range(4):
        part = g.reshape(g.slice(blocks, k, k + 1, 1), -1, HOP)
        parts.append(g.Pad(part, g.ints(k, 0, 3 - k, 0)))
    return g.Add(g.Add(parts[0], parts[1]), g.Add(parts[2], parts[3]))


def stretched(g, x, tract):
    """A spectrum [F,BINS] whose formants stand at tract times their frequency."""
    at = np.minimum(np.arange(BINS) / tract, BINS - 1)
    low = np.floor(at).astype(int)
    part = at - low
    below = g.Mul(g.Gather(x, g.ints(*low), axis=1), 1 - part)
    return g.Add(below, g.Mul(g.Gather(x, g.ints(*np.minimum(low + 1, BINS - 1)), axis=1), part))


def lengthened(g, frames, scale):
    """Frames of each symbol [N] at a length scale, so that no sum of them is off by more than half a frame.

    hibari rounds each symbol by itself: as most have two or three frames of 25 ms, a scale of 0.7 would halve them.
    """
    frames = g.Max(g.Round(frames), 1.0)
    ends = g.Round(g.CumSum(g.Mul(frames, scale), g.const(-1, np.int64)))
    return g.Sub(ends, g.Pad(g.slice(ends, 0, -1, 0), g.ints(1, 0)))


def sound(g, head, f0, noise, tract, pitch):
    """Spectra [1,F,5*BINS] and pitch [1,F] -> samples [1,T]."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(SIZE) / SIZE)
    lh, theta, ln, lr, phi = g.Split(g.reshape(head, -1, 5 * BINS), g.ints(*[BINS] * 5), outputs=5, axis=1)
    if (tract, pitch) != (1, 1):
        lh, ln, lr = (stretched(g, x, tract) for x in (lh, ln, lr))
        theta, f0 = g.Mul(theta, 0.0), g.Mul(f0, pitch)
    wave = g.reshape(pulses(g, f0), 1, -1)
    wave = g.Pad(wave, g.ints(0, SIZE // 2, 0, SIZE // 2), mode="reflect")
    rows = g.reshape(g.slice(wave, 0, -HOP, 1), -1, HOP)  # [F+3,HOP]
    last = g.reshape(g.slice(wave, -HOP, 2**62, 1), 1, HOP)
    rows = g.Concat(rows, last, axis=0)  # [F+4,HOP]
    blocks = [g.slice(rows, k, k - 4, 0) for k in range(4)]
    frames = g.Mul(g.Concat(*blocks, axis=1), window / (SIZE / 4))
    re, im = spectrum(g, frames)

    turn = g.Mul(g.Tanh(theta), np.pi)
    size = g.Exp(g.Min(lh, 7))
    c, s = g.Mul(g.Cos(turn), size), g.Mul(g.Sin(turn), size)
    voice_re = g.Sub(g.Mul(re, c), g.Mul(im, s))
    voice_im = g.Add(g.Mul(re, s), g.Mul(im, c))

    rng = np.random.default_rng(1)
    count = g.Cast(g.Squeeze(g.slice(g.Shape(lh), 0, 1, 0), g.ints(0)), to=TensorProto.INT64)
    frame = g.Range(g.const(0, np.int64), count, g.const(1, np.int64))
    table = np.clip(np.round(rng.standard_normal((PERIODS[0], 2 * BINS)) * 32), -127, 127).astype(np.int8)
    signs = rng.choice(np.array([-1, 1], np.int8), (PERIODS[1], 2 * BINS))
    drawn = [
        g.Gather(g.const(t, np.int8), g.Mod(frame, g.const(p, np.int64)), axis=0)
        for t, p in zip((table, signs), PERIODS)
    ]
    z = g.Mul(*[g.Cast(d, to=TensorProto.FLOAT) for d in drawn])
    breath = g.Mul(g.Exp(g.Min(ln, 7)), g.Div(noise, 32.0))
    free = g.Exp(g.Min(lr, 7))
    re = g.Add(g.Add(voice_re, g.Mul(g.slice(z, 0, BINS, 1), breath)), g.Mul(free, g.Cos(phi)))
    im = g.Add(g.Add(voice_im, g.Mul(g.slice(z, BINS, 2 * BINS, 1), breath)), g.Mul(free, g.Sin(phi)))

    frames = g.reshape(g.Mul(samples(g, re, im), window), -1, 4, HOP)
    total = overlap(g, g.Expand(g.const((window * window).reshape(1, 4, HOP)), g.Shape(frames)))
    y = g.Div(overlap(g, frames), g.Max(total, 1e-3))
    return g.reshape(g.slice(y, 2, -1, 0), 1, -1)


def finish(g, wave):
    """No silence at the ends, one level for every sentence, a soft limit above 0.8, fades; [1,T]."""
    power = g.ReduceMean(g.reshape(g.Mul(wave, wave), -1, HOP), axes=[1], keepdims=0)
    most = g.ReduceMax(power, keepdims=1)
    heard = g.NonZero(g.GreaterOrEqual(power, g.Mul(most, QUIET)))  # [1,n]; at least the loudest frame
    first, last = g.slice(heard, 0, 1, 1), g.slice(heard, -1, 2**62, 1)
    start = g.Max(g.reshape(g.Sub(first, g.ints(LEAD)), 1), g.ints(0))
    stop = g.reshape(g.Add(last, g.ints(1 + TRAIL)), 1)
    wave = g.Slice(wave, g.Mul(start, g.ints(HOP)), g.Mul(stop, g.ints(HOP)), g.ints(1))
    loud = g.Cast(g.Greater(power, g.Mul(most, 1e-3)), to=TensorProto.FLOAT)
    mean = g.Div(g.ReduceSum(g.Mul(power, loud), keepdims=0), g.Add(g.ReduceSum(loud, keepdims=0), 1e-9))
    wave = g.Mul(wave, g.Min(g.Div(LEVEL, g.Add(g.Sqrt(mean), 1e-9)), 4.0))
    size = g.Abs(wave)
    over = g.Mul(g.Tanh(g.Mul(g.Max(g.Sub(size, 0.8), 0.0), 5.0)), 0.2)
    wave = g.Mul(g.Sign(wave), g.Add(g.Min(size, 0.8), over))
    length = g.Cast(g.Squeeze(g.slice(g.Shape(wave), 1, 2, 0), g.ints(0)), to=TensorProto.FLOAT)
    i = g.Range(0.0, length, 1.0)
    edge = g.Min(i, g.Sub(g.Sub(length, 1.0), i))
    return g.Mul(wave, g.Min(g.Div(edge, RATE * FADE), 1.0))


def convert(model, tract, pitch):
    """The network with the sound after it."""
    graph = model.graph
    head = next(n for n in graph.node if n.op_type == "Split" and "lh" in n.output)
    turned = next(n for n in graph.node if head.input[0] in n.output)
    graph.node.remove(head), graph.node.remove(turned)
    old, rounding = list(graph.node), "speed"
    del graph.node[:]
    g = Graph(graph)
    # what comes before: drop the pads, add the frame
    ids = g.reshape("input", -1)
    n = g.Range(g.const(0, np.int64), g.Squeeze(g.Shape(ids), g.ints(0)), g.const(1, np.int64))
    kept = g.And(g.Not(g.Equal(ids, g.const(0, np.int64))), g.Less(n, "input_lengths"))
    ids = g.Concat(g.ints(0), g.Compress(ids, kept, axis=0), g.ints(0), axis=0)
    graph.node.append(helper.make_node("Unsqueeze", [ids, g.ints(0)], ["ids"]))
    noise, length = g.slice("scales", 0, 1, 0), g.slice("scales", 1, 2, 0)
    for node in old:
        if "speed" in node.input:  # a Div, which a Round follows
            longer, rounding = lengthened(g, node.input[0], length), node.output[0]
        elif rounding in node.input:
            graph.node.append(helper.make_node("Identity", [longer], node.output))
        else:
            graph.node.append(node)
    noise = g.Min(g.Max(g.Div(noise, 0.667), 0.0), 1.5)
    wave = finish(g, sound(g, turned.input[0], "f0", noise, tract, pitch))
    graph.node.append(helper.make_node("Reshape", [wave, g.ints(1, 1, 1, -1)], ["output"]))
    del graph.input[:], graph.output[:]
    graph.input.extend([
        helper.make_tensor_value_info("input", TensorProto.INT64, [1, "N"]),
        helper.make_tensor_value_info("input_lengths", TensorProto.INT64, [1]),
        helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
    ])
    graph.output.append(helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1, 1, "T"]))
    used = {name for node in graph.node for name in node.input}
    for spare in [i for i in graph.initializer if i.name not in used]:
        graph.initializer.remove(spare)
    del graph.value_info[:]
    helper.set_model_props(model, {"sample_rate": str(RATE)})
    onnx.checker.check_model(model)
    return model


def config(vocab, name):
    """A voice's .onnx.json: espeak-ng's phonemes as hibari's ids."""
    ids = {"_": [0], "^": [0], "$": [0]}
    ids.update({symbol: [i] for symbol, i in vocab.items() if symbol not in UNHEARD})
    ids.update({sound: [vocab[s] for s in symbols] or [0] for sound, symbols in {**SINGLE, **JOINED}.items()})
    return {
        "audio": {"sample_rate": RATE, "quality": "medium"},
        "espeak": {"voice": "en-us"},
        "phoneme_type": "espeak",
        "num_symbols": max(vocab.values()) + 1,
        "num_speakers": 1,
        "speaker_id_map": {},
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0},
        "phoneme_id_map": ids,
        "vowel_clusters": [list(sound) for sound in JOINED],
        "language": {
            "code": "en_US", "family": "en", "region": "US",
            "name_native": "English", "name_english": "English", "country_english": "United States",
        },
        "dataset": name,
    }


def main(directory):
    hibari = {part.name: part.locate() for part in metadata.files("hibari-tts")}
    vocab = json.loads(hibari["vocab.json"].read_text(encoding="utf-8"))
    (directory / "licenses").mkdir(parents=True, exist_ok=True)
    for name in ("LICENSE", "NOTICE"):
        (directory / "licenses" / f"hibari.{name}").write_bytes(hibari[name].read_bytes())
    for name, (tract, pitch) in VOICES.items():
        file = directory / f"en_US-{name}-medium.onnx"
        onnx.save(convert(onnx.load(hibari["hibari.onnx"]), tract, pitch), file)
        text = json.dumps(config(vocab, name), ensure_ascii=False, indent=2)
        Path(f"{file}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
