#!/usr/bin/env python3
"""Tables of kirchhoff-tt for NumPy and Madagascar.

    import tables
    t = tables.read("tt/source-000000.tt")   # NumPy: t.time[x, y, z], t.p[axis], t.spread, t.kmah
    python3 tables.py tt/source-000000.tt time.rsf [time|px|py|pz|spread]   # RSF, without NumPy
"""
import struct
import sys
import types

HEADER, FIELDS = 1024, ("time", "px", "py", "pz", "spread")


def header(path):
    """Grid (metres, z down), source and velocity of a table."""
    with open(path, "rb") as file:
        word = struct.unpack("<8sII3q9d3q256sQ", file.read(400))
    if word[0] != b"EKTIMES\0" or word[1:3] != (2, 0x01020304):
        raise ValueError(path + ": no table of this version and byte order")
    return types.SimpleNamespace(n=word[3:6], origin=word[6:9], step=word[9:12], source=word[12:15],
                                 velocity=word[18].split(b"\0")[0].decode())


def read(path):
    """The same with its arrays, mapped: NaN, and kmah 255, where nothing arrives."""
    try:
        import numpy as np
    except ImportError:
        sys.exit("tables.read() wants NumPy (Debian: python3-numpy); RSF files are written without it")
    t = header(path)
    floats = np.memmap(path, "<f4", "r", HEADER, (len(FIELDS),) + t.n)
    t.time, t.p, t.spread = floats[0], floats[1:4], floats[4]
    t.kmah = np.memmap(path, np.uint8, "r", HEADER + floats.nbytes, t.n)
    return t


def write_rsf(path, table, field):
    """One field as RSF with its data in the same file; axis 1 is z, which is fastest here, too."""
    t = header(table)
    text = "".join(f'n{i}={t.n[a]} o{i}={t.origin[a]!r} d{i}={t.step[a]!r} label{i}="{"xyz"[a]}" unit{i}="m"\n'
                   for i, a in ((1, 2), (2, 1), (3, 0)))
    nodes = 4 * t.n[0] * t.n[1] * t.n[2]
    with open(table, "rb") as file, open(path, "wb") as out:
        out.write(f'{text}esize=4 data_format="native_float" in="stdin"\n'.encode() + b"\f\f\4")
        file.seek(HEADER + nodes * FIELDS.index(field))
        out.write(file.read(nodes))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write_rsf(sys.argv[2], sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else "time")
