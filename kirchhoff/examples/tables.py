#!/usr/bin/env python3
"""Tables of kirchhoff-tt for NumPy and Madagascar.

    import tables
    t = tables.read("tt/source-000000.tt")   # NumPy: t.time[x, y, z], t.p[axis], t.spread, t.kmah
    python3 tables.py tt/source-000000.tt time.rsf [time|px|py|pz|spread]   # RSF, without NumPy
"""
import array
import math
import struct
import sys
import types

HEADER, UNFILLED, FIELDS = 1024, 255, ("time", "px", "py", "pz", "spread")


def header(path):
    """Grid (metres, z down), source and velocity of a table, and the steps of its numbers."""
    with open(path, "rb") as file:
        word = struct.unpack("<8sII3q9d3q256s4dQ", file.read(432))
    if word[0] != b"EKTIMES\0" or word[1:3] != (3, 0x01020304):
        raise ValueError(path + ": no table of this version and byte order")
    return types.SimpleNamespace(n=word[3:6], origin=word[6:9], step=word[9:12], source=word[12:15],
                                 velocity=word[18].split(b"\0")[0].decode(), time_step=word[19],
                                 slowness_step=word[20], spread_least=word[21], spread_step=word[22])


def read(path):
    """The same with its arrays (ttable.h has the format): NaN, and kmah 255, where nothing arrives."""
    try:
        import numpy as np
    except ImportError:
        sys.exit("tables.read() wants NumPy (Debian: python3-numpy); RSF files are written without it")
    t = header(path)
    nodes, columns = t.n[0] * t.n[1] * t.n[2], t.n[0] * t.n[1]
    at = HEADER + 4 * columns
    first = np.fromfile(path, "<f4", columns, offset=HEADER).astype("f8").reshape(t.n[:2])
    code = np.fromfile(path, "<i2", 4 * nodes, offset=at).reshape((4,) + t.n)
    spread = np.fromfile(path, "<u2", nodes, offset=at + 8 * nodes).reshape(t.n)
    t.kmah = np.fromfile(path, np.uint8, nodes, offset=at + 10 * nodes).reshape(t.n)
    filled = t.kmah != UNFILLED
    t.p = np.where(filled, code[1:] * t.slowness_step, np.nan).astype("f4")
    t.spread = np.where(spread > 0, t.spread_least * np.exp(t.spread_step * (spread - 1.0)), 0)
    t.spread = np.where(filled, t.spread, np.nan).astype("f4")
    time, above = np.full(t.n, np.nan), np.full(t.n[:2], -1)
    x, y = np.indices(t.n[:2])
    for k in range(t.n[2]):  # each from the filled node above, if there is one
        both = code[3, x, y, above].astype("f8") + code[3, :, :, k]
        way = (k - above) * t.step[2]
        here = time[x, y, above] + 0.5 * way * t.slowness_step * both + code[0, :, :, k] * t.time_step
        now = filled[:, :, k]
        time[:, :, k] = np.where(now, np.where(above < 0, first, here), np.nan)
        above = np.where(now, k, above)
    t.time = time.astype("f4")
    return t


def numbers(path, t, field):
    """One field as floats, without NumPy."""
    nodes, nz = t.n[0] * t.n[1] * t.n[2], t.n[2]
    first, code, spread, kmah = array.array("f"), array.array("h"), array.array("H"), array.array("B")
    with open(path, "rb") as file:
        file.seek(HEADER)
        for numbers_of, n in (first, nodes // nz), (code, 4 * nodes), (spread, nodes), (kmah, nodes):
            numbers_of.fromfile(file, n)
    out, above, time = array.array("f", [float("nan")]) * nodes, -1, 0.0
    for i in range(nodes):
        above = -1 if i % nz == 0 else above
        if kmah[i] == UNFILLED:
            continue
        if field == "spread":
            out[i] = t.spread_least * math.exp(t.spread_step * (spread[i] - 1)) if spread[i] else 0
        elif field != "time":
            out[i] = code[FIELDS.index(field) * nodes + i] * t.slowness_step
        elif above < 0:
            out[i] = time = first[i // nz]
        else:
            both = code[3 * nodes + above] + code[3 * nodes + i]
            time += 0.5 * (i - above) * t.step[2] * t.slowness_step * both + code[i] * t.time_step
            out[i] = time
        above = i
    return out


def write_rsf(path, table, field):
    """One field as RSF with its data in the same file; axis 1 is z, which is fastest here, too."""
    t = header(table)
    text = "".join(f'n{i}={t.n[a]} o{i}={t.origin[a]!r} d{i}={t.step[a]!r} label{i}="{"xyz"[a]}" unit{i}="m"\n'
                   for i, a in ((1, 2), (2, 1), (3, 0)))
    with open(path, "wb") as out:
        out.write(f'{text}esize=4 data_format="native_float" in="stdin"\n'.encode() + b"\f\f\4")
        numbers(table, t, field).tofile(out)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write_rsf(sys.argv[2], sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else "time")
