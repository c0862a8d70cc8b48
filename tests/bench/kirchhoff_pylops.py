#!/usr/bin/env python3
# tests/bench/kirchhoff_pylops.py – least squares on the case of PyLops' tutorial of least-squares migration, by
# bin/kirchhoff-mig --lsm and, where it can be imported, by PyLops: what is left of the traces, how far the image is
# from the reflectivity, a cpu's seconds. Two flat reflectors below ten sources and eleven receivers, v = 1000 m/s,
# wavelets of 20 Hz; traces are sums over the reflectors' points by closed forms.
import array
import json
import math
import os
import resource
import struct
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
BIN = os.environ.get("BIN", "bin") + "/kirchhoff-mig"
NX, NZ, STEP, SPEED, NS, DT, PEAK = 81, 60, 4.0, 1000.0, 651, 0.004, 20.0
STRENGTH = {30: -1.0, 50: 0.5}  # of rows of the image
SOURCES = [(40 + 244 / 9 * i, 10.0) for i in range(10)]
RECEIVERS = [(40 + 24.4 * i, 20.0) for i in range(11)]
TRUE = [STRENGTH.get(k, 0.0) for _ in range(NX) for k in range(NZ)]


def traces():
    """[source][receiver][sample]: each point's spike between two samples, convolved with the wavelet."""
    wavelet = [(1 - 2 * a) * math.exp(-a) for a in ((math.pi * PEAK * DT * k) ** 2 for k in range(41))]
    out = array.array("f")
    for s in SOURCES:
        for r in RECEIVERS:
            sharp, trace = [0.0] * NS, [0.0] * NS
            for i in range(NX):
                for k, strength in STRENGTH.items():
                    u = (math.hypot(STEP * i - s[0], STEP * k - s[1]) + math.hypot(STEP * i - r[0], STEP * k - r[1])) / SPEED / DT
                    sharp[int(u)] += strength * (1 - u % 1)
                    sharp[int(u) + 1] += strength * (u % 1)
            for n, x in enumerate(sharp):
                for k in range(max(n - 40, 0), min(n + 41, NS)) if x else ():
                    trace[k] += x * wavelet[abs(k - n)]
            out.extend(trace)
    return out


def write_segy(path, data):
    with open(path, "wb") as f:
        f.write(b" " * 3200 + struct.pack(">16xhxxhxxh", round(1e6 * DT), NS, 5).ljust(300, b"\0") +
                struct.pack(">HH", 256, 1).ljust(100, b"\0"))
        for t, (s, r) in enumerate((s, r) for s in SOURCES for r in RECEIVERS):
            h = bytearray(240)
            for at, kind, value in ((28, "h", 1), (40, "i", -1e3 * r[1]), (48, "i", 1e3 * s[1]), (68, "h", -1000),
                                    (70, "h", -1000), (72, "i", 1e3 * s[0]), (80, "i", 1e3 * r[0]), (114, "h", NS),
                                    (116, "h", 1e6 * DT)):
                struct.pack_into(">" + kind, h, at, round(value))
            f.write(h + struct.pack(f">{NS}f", *data[t * NS:(t + 1) * NS]))


def report(who, iterations, left, image, seconds):
    off = math.sqrt(sum((a - b) ** 2 for a, b in zip(image, TRUE)) / sum(b * b for b in TRUE))
    print(f"{who:<24} {iterations:>4} {100 * left:>12.3f} {100 * off:>12.2f} {seconds:>8.2f}", flush=True)


def ours(folder, iterations):
    raw, text = folder + "/image", folder + "/run.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([BIN, folder + "/data.segy", "--velocity", f"const:v={SPEED}", "--grid", f"{NX}x1x{NZ}:{STEP}",
                    "--weight", "kinematic", "--filter", "none", "--anti-alias", "0", "--oversample", "1", "--wavelet",
                    str(PEAK), "--lsm", str(iterations), "--layout", "1x1", "--raw", raw, "--json", text],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    image = array.array("f")
    with open(raw + ".f32", "rb") as f:
        image.fromfile(f, NX * NZ)
    with open(text) as f:
        left = json.load(f)["lsm"]["residual"][-1]
    report("kirchhoff-mig, all", iterations, left, image, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def theirs(data):
    try:
        import numpy as np
        import pylops
        from scipy.sparse.linalg import lsqr
    except ImportError as e:
        print(f"PyLops: left out ({e})")
        return
    time = DT * np.arange(NS)
    wavelet, _, centre = pylops.utils.wavelets.ricker(time[:41], f0=PEAK)
    lsm = pylops.waveeqprocessing.LSM(STEP * np.arange(NZ), STEP * np.arange(NX), time, np.array(SOURCES).T,
                                      np.array(RECEIVERS).T, SPEED, wavelet, centre, mode="analytic",
                                      engine=os.environ.get("ENGINE", "numba"))
    d = np.array(data, dtype=float)
    print(f"traces of both differ by {np.abs(lsm.Demop @ np.array(TRUE) - d).max() / np.abs(d).max():.1e} of the largest")
    for iterations in (1, 10, 100):  # the first one compiles
        before = resource.getrusage(resource.RUSAGE_SELF)
        image = np.asarray(lsm.solve(d, solver=lsqr, iter_lim=iterations, atol=0, btol=0)).ravel()
        after = resource.getrusage(resource.RUSAGE_SELF)
        left = np.linalg.norm(d - lsm.Demop @ image) / np.linalg.norm(d)
        if iterations > 1:
            report("PyLops, iterations", iterations, left, image, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    data = traces()
    with tempfile.TemporaryDirectory() as folder:
        write_segy(folder + "/data.segy", data)
        print("                        iterations  traces left %  image off %  cpu s")
        for iterations in (1, 10, 100):
            ours(folder, iterations)
    theirs(data)


sys.exit(main())
