#!/usr/bin/env python3
# tests/bench/mcsem_empymod.py – earths, sources and receivers of ten cases of empymod's gallery, by bin/mcsem --forward and
# by empymod, which must be installed: how far the fields are apart, and a cpu's seconds of each.
import os
import resource
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
try:
    import empymod
    import numpy as np
except ImportError:
    sys.exit(77)

BIN = os.environ.get("BIN", "bin") + "/mcsem"
SEA = ([0, 300, 1000, 1200], [2e14, 0.3, 1, 50, 1], [1, 1, 1.5, 1.5, 1.5])
LAND = ([0], [2e14, 1], [1, 1])
SPACE = [-1e5]
STEP, DEEP = np.arange(5, 101) * 100.0, np.linspace(500, 2e4, 96)
GRID = [g.ravel() for g in np.meshgrid(*[np.linspace(-1e4, 1e4, 20)] * 2)]
FAR, NEAR, LONG = np.linspace(1e3, 15e3, 201), np.arange(1, 1001) * 10.0, np.linspace(10, 1.5e4, 128)
INLINE = ((0, 0, 0),)
# name, (depths, resistivities, anisotropies), source depth and (azimuth, dip, length) of each, receivers' x, y, z, (azimuth, dip,
# whether of H) of each, frequencies
CASES = [
    ("single_and_crossplot", SEA, 250, INLINE, STEP[15:], 0, 300, INLINE, np.logspace(-1.5, 0.5, 33)),
    ("dipole_vs_bipole", SEA, 250, ((0, 0, 0), (0, 0, 800)), STEP, 0, 300, INLINE, [1]),
    ("src_rec_comparison", LAND, 50, ((0, 0, 0), (90, 0, 0), (0, 90, 0)), *GRID, 1e-3,
     ((0, 0, 0), (90, 0, 0), (0, 0, 1), (90, 0, 1), (0, 90, 1)), [1]),
    ("tmte_split", ([0, 1000, 2000, 2040], [2e14, 1 / 3, 1, 70, 1], [1] * 5), 975, INLINE, LONG, 0, 999.999, INLINE, [0.5]),
    ("dlf_standard_lagged_splined", (LAND[0], LAND[1], [1, 2]), 150, INLINE, NEAR, 0, 200, INLINE, [1]),
    ("ht_ft_with_other_modellers", LAND, 1e-3, INLINE, [6000.0], 0, 1e-3, INLINE, np.logspace(-4, 3, 80)),
    ("dipoles_and_loops", (SPACE, [100, 100], [1, 1]), 0, INLINE, [100.0], 0, 0, INLINE, np.logspace(-1, 5, 301)),
    ("random_noise_f_domain", (SPACE, [3, 3], [1, 1]), 0, INLINE, FAR, 0, 0, INLINE, [1]),
    ("constable2006", ([0, 1000, 2000, 2100], [2e14, 0.3, 1, 100, 1], [1] * 5), 900, ((0, 0, 0), (90, 0, 0)), DEEP, 0, 999.999,
     ((0, 0, 0), (90, 0, 0)), [1]),
    ("coordinate_system", ([0, 300, 1000, 1050], [1e20, 0.3, 1, 50, 1], [1] * 5), 100, INLINE, DEEP, 0, 200, INLINE, [1]),
]


def ours(case, path):
    """Fields [source][channel][freq][receiver], seconds of a cpu."""
    _, (depth, res, aniso), zs, sources, x, y, z, channels, freq = case
    layers = ",".join(";".join(f"{v!r}" for v in map(float, n)) for n in (depth, res, aniso))
    x, y = np.broadcast_arrays(x, y)
    with open(path, "w") as f:
        f.write("id,freq_hz,src_x,src_y,src_z,src_azimuth_deg,src_dip_deg,src_len_m,rec_x,rec_y,rec_z,component,"
                "interfaces_z_m,rho_h_ohmm,aniso_lambda\n")
        for az, dip, length in sources:
            for a, d, magnetic in channels:
                name = "EH"[magnetic] + ("z" if d else "y" if a else "x")
                for q in freq:
                    for px, py in zip(x, y):
                        f.write(f"0,{float(q)!r},0,0,{zs},{az},{dip},{length},{float(px)!r},{float(py)!r},{z},{name},{layers}\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([BIN, "--forward", path, "--tolerance", "1e-6", "--out", path + ".out"], stderr=subprocess.PIPE)
    if run.returncode > 1:
        sys.exit(run.stderr.decode())
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    rows = np.loadtxt(path + ".out", delimiter=",", skiprows=1, ndmin=2)
    return (rows[:, 1] + 1j * rows[:, 2]).reshape(len(sources), len(channels), len(freq), len(x)), spent


def theirs(case, dlf):
    _, (depth, res, aniso), zs, sources, x, y, z, channels, freq = case
    x, y = np.broadcast_arrays(x, y)
    none, out = [0] * len(res), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for az, dip, length in sources:
        wire = [-length / 2, length / 2, 0, 0, zs, zs] if length else [0, 0, zs, az, dip]
        out.append([empymod.bipole(wire, [x, y, z, a, d], depth, res, freq, aniso=aniso, epermH=none, epermV=none,
                                   mrec=bool(m), srcpts=15 if length else 1, verb=0,
                                   htarg={"dlf": dlf, "pts_per_dec": 0}).reshape(len(freq), len(x))
                    for a, d, m in channels])
    return np.array(out), resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


empymod.set_minimum(min_off=1e-9)
theirs(CASES[0], "key_201_2009")  # compiles
print("case, fields, apart (largest, of fields above 1e-17), wer_201 from key_201, seconds: mcsem, empymod")
for case in CASES:
    with tempfile.TemporaryDirectory() as folder:
        got, seconds = ours(case, folder + "/cases.csv")
    want, _ = theirs(case, "wer_201_2018")
    other, their_seconds = theirs(case, "key_201_2009")
    size = np.maximum(np.abs(want), 1e-17)
    print(f"{case[0]}, {got.size}, {np.max(np.abs(got - want) / size):.0e}, {np.max(np.abs(other - want) / size):.0e}, "
          f"{seconds:.2f}, {their_seconds:.2f}", flush=True)
