#!/usr/bin/env python3
"""tests/replay.py – `make replay`: tables and figures of the five papers beside ours.

    replay.py [--report FILE.html] [--only PAPER]

Every value of ours is computed in this run: by bin/cu-plan and bin/cu-run from the papers' own numbers, or by
the donation code under a virtual clock. What is expected of it stands in tests/data/replay/PAPER.json, one row
each: the paper's number (or null and the reason why it has none), what is expected, within which band, and why:

    "paper"   the paper's own number
    "rule"    the same rule worked out a second time, in tests/replay_papers.py, from the paper's text
    "bound"   what no assignment can beat
    a number  what the simulator gave when the row was written: for rules too long to be written twice

A band is two-sided and at most a quarter, so no row passes at half or twice its value. Where ours differs from the
paper's by more than a tenth, the row must say why; a reason does not widen the band. Exit 1: a row is red.
CU_PLAN=FILE takes another cu-plan: tests/e2e/replay.sh sabotages policies that way."""
import argparse
import json
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import replay_page  # noqa: E402
import replay_papers  # noqa: E402

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "replay")
PAPERS = ["okada_mogi", "mcsem", "waterlevel", "npb_mz", "kirchhoff"]
WIDEST = 0.25


def ends(value):
    """A number or [lowest, highest], as a pair; None where there is none."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [value, value]


def within(value, expected, band, absolute):
    if expected is None or value is None or not math.isfinite(value):
        return False
    return abs(value - expected) <= (band if absolute else band * abs(expected)) + 1e-12


def differs(ours, paper):
    return any(p is not None and abs(o - p) > 0.1 * abs(p) for o, p in zip(ends(ours), ends(paper)))


def judge(row, ours, rule, bound):
    """Adds ours, expected and the verdict to the row; the reasons for red are words."""
    source = row["expect"] if isinstance(row["expect"], str) else "recorded"
    table = {"rule": rule, "bound": bound, "paper": {row["key"]: row["paper"]}}
    row["source"] = source
    row["expected"] = row["expect"] if source == "recorded" else table[source].get(row["key"])
    row["ours"] = ours.get(row["key"])
    row["far"] = row["ours"] is not None and row.get("paper") is not None and differs(row["ours"], row["paper"])
    red = []
    if row["ours"] is None or row["expected"] is None:
        red.append("not computed")
    else:
        absolute = "within" in row
        band = row.get("within", row.get("band"))
        wide = max((abs(e) for e in ends(row["expected"]) if e is not None), default=0)
        if not row.get("why") or band is None or band > (WIDEST * wide if absolute and wide else WIDEST):
            red.append("a band must have a reason and be no wider than a quarter")
        for value, expected in zip(ends(row["ours"]), ends(row["expected"])):
            if not within(value, expected, band, absolute):
                red.append("outside its band")
        if row["far"] and not row.get("differs"):
            red.append("differs from the paper, and no reason is given")
    row["red"] = "; ".join(dict.fromkeys(red))
    return row


def replay(name):
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as f:
        paper = json.load(f)
    ours, rule, bound, pictures = {}, {}, {}, {}
    getattr(replay_papers, name)(paper, ours, rule, bound, pictures)
    for figure in paper["figures"]:
        figure["rows"] = [judge(row, ours, rule, bound) for row in figure.get("rows", [])]
        figure["pictures"] = pictures.get(figure["id"], [])
    return paper


def number(value):
    return "–" if value is None else "{:,.0f}".format(value) if abs(value) >= 1e4 else "%.4g" % value


def text(value):
    low, high = ends(value)
    if low is None and high is None:
        return ""
    if low is None:
        return "to " + number(high)
    if high is None:
        return "from " + number(low)
    return number(low) if low == high else "%s\u2009–\u2009%s" % (number(low), number(high))


def band_text(row):
    return "±\u00a0%s" % number(row["within"]) if "within" in row else "±\u00a0%g\u00a0%%" % (100 * row.get("band", 0))


def print_paper(paper):
    print("\n==== %s" % paper["title"])
    for figure in paper["figures"]:
        print("\n%s: %s" % (figure["id"], figure["title"]))
        if figure.get("words"):
            print("  " + figure["words"])
        if figure["rows"]:
            print("  %-46s %-13s %-15s %-8s %-9s %-15s" % ("", "paper", "expected", "from", "band", "ours"))
        for row in figure["rows"]:
            print("  %-46s %-13s %-15s %-8s %-9s %-15s%s" % (
                row["what"], row.get("said") or text(row.get("paper")), text(row["expected"]), row["source"], band_text(row),
                text(row["ours"]), "  RED: " + row["red"] if row["red"] else ""))


def main():
    parser = argparse.ArgumentParser(description="tables and figures of the five papers beside ours")
    parser.add_argument("--report", metavar="FILE", help="write one HTML page")
    parser.add_argument("--only", metavar="PAPER", choices=PAPERS, help=", ".join(PAPERS))
    options = parser.parse_args()
    try:
        papers = [replay(name) for name in PAPERS if options.only in (None, name)]
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as e:
        print("replay: %s: %s" % (type(e).__name__, e), file=sys.stderr)
        return 3
    rows = [r for p in papers for f in p["figures"] for r in f["rows"]]
    red = sum(bool(r["red"]) for r in rows)
    if options.report:
        replay_page.write(options.report, papers, text, band_text)
        print("%s: %d rows, %d red" % (options.report, len(rows), red))
    else:
        for paper in papers:
            print_paper(paper)
        print("\n%d of %d rows with a number in a paper differ from it by more than a tenth; %d rows, %d red"
              % (sum(r["far"] for r in rows), sum(r.get("paper") is not None for r in rows), len(rows), red))
    for p in papers:
        for f in p["figures"]:
            for r in f["rows"] if options.report else []:
                if r["red"]:
                    print("  RED %s, %s: %s: %s" % (p["short"], f["id"], r["what"], r["red"]))
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
