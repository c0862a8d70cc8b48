"""tests/replay_page.py – for tests/replay.py: pictures (SVG) and the page. Colours are classes, so that dark and
print find their own; every picture has a title and, behind it, its numbers for those who cannot see it."""
import html
import math
import os

HEAD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "head.html")
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 420, 260, 62, 12, 12, 46
SERIES = 8


def short(value):
    return ("%.4g" % value).replace("e+0", "e").replace("e+", "e")


def ticks(low, high, most=6):
    """Round numbers between low and high, at most so many."""
    if not high > low:
        high = low + 1
    step = 10 ** math.floor(math.log10((high - low) / most))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def limits(values):
    low, high = min(values), max(values)
    low = min(low, 0) if low > 0 and low < 0.7 * high or low < 0 else (0 if low >= 0 else low)
    return (low, high * 1.04 if high > 0 else high + 1)


class Plot:
    def __init__(self, title, x, y, xname, yname, high=HIGH):
        self.title, self.x, self.y, self.high, self.out, self.table = title, x, y, high, [], []
        self.names = (xname, yname)

    def at(self, x, y):
        fx = (x - self.x[0]) / (self.x[1] - self.x[0] or 1)
        fy = (y - self.y[0]) / (self.y[1] - self.y[0] or 1)
        return LEFT + fx * (WIDE - LEFT - RIGHT), self.high - BOTTOM - fy * (self.high - TOP - BOTTOM)

    def axes(self, xticks, yticks):
        base = self.high - BOTTOM
        for value, label in yticks:
            y = self.at(self.x[0], value)[1]
            self.out.append('<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>'
                            % (LEFT, y, WIDE - RIGHT, LEFT - 6, y + 4, html.escape(label)))
        for value, label in xticks:
            x = self.at(value, self.y[0])[0]
            self.out.append('<path class="axis" d="M%.1f %dv4"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>'
                            % (x, base, x, base + 17, html.escape(label)))
        self.out.append('<path class="axis" d="M%d %dV%dH%d"/>' % (LEFT, TOP, base, WIDE - RIGHT))
        middle = (TOP + base) / 2
        self.out.append('<text x="%d" y="%d" text-anchor="middle">%s</text><text x="13" y="%.0f" text-anchor="middle" '
                        'transform="rotate(-90 13 %.0f)">%s</text>' % ((LEFT + WIDE - RIGHT) / 2, self.high - 8,
                        html.escape(self.names[0]), middle, middle, html.escape(self.names[1])))

    def done(self, legend):
        keys = "".join('<li><span class="key s%d"></span>%s</li>' % (i % SERIES, html.escape(n)) for i, n in legend)
        body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % html.escape(c) for c in row) for row in self.table[1:])
        head = "".join('<th scope="col">%s</th>' % html.escape(c) for c in self.table[0]) if self.table else ""
        numbers = ('<details><summary>numbers</summary><div class="scroll"><table><thead><tr>%s</tr></thead><tbody>%s</tbody>'
                   '</table></div></details>' % (head, body)) if self.table else ""
        return ('<figure><svg viewBox="0 0 %d %d" role="img" aria-label="%s"><title>%s</title>%s</svg>'
                '<ul class="legend" aria-hidden="true">%s</ul><figcaption>%s</figcaption>%s</figure>'
                % (WIDE, self.high, html.escape("%s; %s over %s" % (self.title, self.names[1], self.names[0]), quote=True),
                   html.escape(self.title), "".join(self.out), keys, html.escape(self.title), numbers))


def lines(title, series, xname, yname, dots=False):
    """series {name: (x, y)}."""
    xs = [v for x, _ in series.values() for v in x]
    ys = [v for _, y in series.values() for v in y]
    plot = Plot(title, (min(xs) if min(xs) > 0 and dots else min(0, min(xs)), max(xs)), limits(ys), xname, yname)
    plot.axes([(v, short(v)) for v in ticks(*plot.x)], [(v, short(v)) for v in ticks(*plot.y)])
    for i, (name, (x, y)) in enumerate(series.items()):
        points = [plot.at(a, b) for a, b in zip(x, y)]
        if not dots:
            plot.out.append('<polyline class="line s%d" points="%s"/>'
                            % (i % SERIES, " ".join("%.1f,%.1f" % p for p in points)))
        if dots or len(points) < 13:
            plot.out.append("".join('<circle class="dot s%d" cx="%.1f" cy="%.1f" r="3"/>' % ((i % SERIES,) + p) for p in points))
    if max(len(x) for x, _ in series.values()) <= 40:
        columns = sorted({v for x, _ in series.values() for v in x})
        plot.table = [[xname] + list(series)]
        for c in columns:
            found = [dict(zip(x, y)).get(c) for x, y in series.values()]
            plot.table.append([short(c)] + ["" if f is None else short(f) for f in found])
    return plot.done(list(enumerate(series)))


def bars(title, groups, series, xname, yname, marks=()):
    """groups [names], series {name: [value of each group or None]}; marks: values of the paper as dashed lines."""
    values = [v for y in series.values() for v in y if v is not None] + [m for m in marks if m]
    plot = Plot(title, (0, len(groups)), (0, max(values) * 1.06), xname, yname)
    plot.axes([(g + 0.5, name) for g, name in enumerate(groups)], [(v, short(v)) for v in ticks(*plot.y)])
    wide = 0.84 / len(series)
    for i, (name, y) in enumerate(series.items()):
        for g, v in enumerate(y):
            if v is None:
                continue
            x0, top = plot.at(g + 0.08 + i * wide, v)
            x1, base = plot.at(g + 0.08 + (i + 0.9) * wide, 0)
            plot.out.append('<rect class="bar s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s, %s: %s</title></rect>'
                            % (i % SERIES, x0, top, x1 - x0, base - top, html.escape(name), html.escape(groups[g]), short(v)))
    for m in marks:
        if m:
            plot.out.append('<path class="mark" d="M%d %.1fH%d"><title>the paper: %s</title></path>'
                            % (LEFT, plot.at(0, m)[1], WIDE - RIGHT, short(m)))
    plot.table = [[xname] + list(series)] + [[g] + ["" if y[k] is None else short(y[k]) for y in series.values()]
                                             for k, g in enumerate(groups)]
    legend = plot.done(list(enumerate(series)))
    return legend.replace("</ul>", '<li><span class="dash"></span>the paper</li></ul>', 1) if any(marks) else legend


def gantt(title, rows, xname, yname):
    """rows [worker, shot, on a device, start, end]."""
    workers = max(r[0] for r in rows) + 1
    plot = Plot(title, (0, max(r[4] for r in rows)), (0, workers), xname, yname, 26 + 13 * workers + BOTTOM)
    plot.axes([(v, "%.3g" % v) for v in ticks(*plot.x, 4)], [(w + 0.5, str(workers - 1 - w)) for w in range(0, workers, 3)])
    for worker, shot, device, start, end in rows:
        x0, top = plot.at(start, workers - worker - 0.1)
        x1, base = plot.at(end, workers - worker - 0.9)
        plot.out.append('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>'
                        % ("gpu" if device else "cpu", x0, top, max(x1 - x0, 0.4), base - top))
    return plot.done([]).replace('<ul class="legend" aria-hidden="true"></ul>', '<ul class="legend" aria-hidden="true"><li><span '
                                 'class="key cpu"></span>on a core</li><li><span class="key gpu"></span>on a device</li></ul>')


STYLE = """<style>
  :root { --s0:#31688e; --s1:#d1495b; --s2:#2e9c6a; --s3:#b07aa1; --s4:#e08e0b; --s5:#1c2733; --s6:#6b5b95; --s7:#8c8c3a; }
  @media screen and (prefers-color-scheme: dark) { :root { --ink:#e6ebf0; --soft:#9aa7b4; --line:#3a4652; --good:#5bd08f; --bad:#ff8a80;
    --paper:#14191f; --lit:#1d242c; --pick:#22303d; --s0:#6fb1dd; --s1:#ff8793; --s2:#62d19c; --s3:#d9a5cb; --s4:#f3b84f; --s5:#e6ebf0;
    --s6:#a99bd6; --s7:#cfcf72; color-scheme: dark; } }
  section { border-top: 1px solid var(--line); } h1, h2, h3 { overflow-wrap: anywhere; } h3 { margin: 1.6rem 0 .3rem; font-size: 1rem; }
  nav ul, .legend { list-style: none; padding: 0; margin: .2rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; }
  a { color: inherit; } td, td:first-child { white-space: normal; vertical-align: top; } tr.red td { background: color-mix(in srgb, var(--bad) 15%, transparent); }
  td[data-name] { white-space: nowrap; } td small { display: block; color: var(--soft); } td.good { color: var(--good); } td.bad { color: var(--bad); font-weight: 700; } td.why { text-align: left; color: var(--soft); font-size: .85rem; min-width: 15rem; }
  th.why { text-align: left; } .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(400px, 100%), 1fr)); gap: 1rem; }
  figure { margin: .5rem 0; min-width: 0; } svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
  figcaption { color: var(--soft); font-size: .85rem; } summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
  .grid { stroke: var(--line); fill: none; } .axis { stroke: var(--soft); fill: none; } .line { fill: none; stroke-width: 2; }
  .mark { stroke: var(--ink); stroke-dasharray: 5 4; stroke-width: 1.5; fill: none; } .dash { display: inline-block; width: 1.6em; border-top: 2px dashed var(--ink); margin-right: .35em; vertical-align: .25em; } .key { display: inline-block; width: .9em; height: .9em; margin-right: .35em; vertical-align: -.1em; }
  .cpu { fill: var(--soft); background: var(--soft); opacity: .55; } .gpu { fill: var(--s0); background: var(--s0); }
  @media (max-width: 640px) {
    body { margin: 1rem auto; } table.rows thead { position: absolute; left: -9999px; }
    table.rows tr { display: block; border-bottom: 1px solid var(--line); padding: .4rem 0; } table.rows td { display: block; border: 0; text-align: left; padding: .05rem 0; min-width: 0; }
    table.rows td small { display: inline; } table.rows td[data-name] { display: inline-block; margin-right: .8rem; } table.rows td[data-name]:empty { display: none; }
    table.rows td[data-name]:not(:empty)::before { content: attr(data-name) ": "; color: var(--soft); } table.rows td:first-child { font-weight: 600; } }
  @media print { figure, tr { break-inside: avoid; } details:not([open]) { display: none; } body { font-size: 11px; } }
""" + "".join("  .s%d.line, .s%d.bar { stroke: var(--s%d); } .s%d.bar, .s%d.dot { fill: var(--s%d); } .key.s%d { background: var(--s%d); }\n"
              % ((i,) * 8) for i in range(SERIES)) + "  .line { fill: none !important; } .bar { stroke: none !important; }\n</style>\n"

SOURCES = {"paper": "the paper's", "rule": "by its rule", "bound": "the bound", "recorded": "recorded"}


def row_html(row, above, text, band_text):
    cell = html.escape
    why = ("as above" if above and above["why"] == row["why"] else cell(row["why"])) + (" <b>%s:</b> " % ("Differs from the paper" if row["far"] else "Beside the paper") + cell(row["differs"]) if row.get("differs") else "")
    return ('<tr%s><td>%s</td><td data-name="paper">%s</td><td data-name="ours">%s</td><td data-name="expected">%s</td>'
            '<td data-name="band">%s</td><td class="%s">%s</td><td class="why">%s</td></tr>'
            % (' class="red"' if row["red"] else "", cell(row["what"]), cell(row.get("said") or text(row.get("paper"))), text(row["ours"]),
               '%s <small>%s</small>' % (text(row["expected"]), SOURCES[row["source"]]), band_text(row), "bad" if row["red"] else "good",
               "red: " + cell(row["red"]) if row["red"] else "holds", why))


def figure_html(figure, text, band_text):
    out = ["<section><h3>%s: %s</h3>" % (html.escape(figure["id"]), html.escape(figure["title"]))]
    if figure.get("words"):
        out.append('<p class="note">%s</p>' % html.escape(figure["words"]))
    if figure["pictures"]:
        out.append('<div class="pictures">%s</div>' % "\n".join(figure["pictures"]))
    if figure["rows"]:
        out.append('<div class="scroll"><table class="rows"><thead><tr><th scope="col">what</th><th scope="col">paper</th><th scope="col">ours'
                   '</th><th scope="col">expected</th><th scope="col">band</th><th scope="col">verdict</th><th scope="col" class="why">why this band'
                   '</th></tr></thead><tbody>%s</tbody></table></div>' % "\n".join(
                       row_html(r, above, text, band_text) for r, above in zip(figure["rows"], [None] + figure["rows"])))
    return "\n".join(out) + "</section>"


def write(path, papers, text, band_text):
    rows = [r for p in papers for f in p["figures"] for r in f["rows"]]
    red = [r for r in rows if r["red"]]
    said = [r for r in rows if r.get("paper") is not None]
    out = [open(HEAD, encoding="utf-8").read().replace("@TITLE@", "Evenkeel: five papers replayed"), STYLE, "</head>\n<body>",
           "<h1>%s</h1>" % ("All %d results are where they should be" % len(rows) if not red else
                            "%d of %d results are outside their bands" % (len(red), len(rows))),
           '<p class="facts">Tables and figures of five papers beside ours. Ours is computed when this page is made, by the schedulers '
           'themselves under a virtual clock; a row is red when it leaves its band. %d rows have a number in the paper\'s text; %d of these '
           'differ from it by more than a tenth, each with the reason beside it. %d are held against their rule, worked out a second time, '
           '%d against a bound, %d against what was recorded when the row was written.</p>'
           % ((len(said), sum(r["far"] for r in said)) + tuple(sum(r["source"] == s for r in rows) for s in ("rule", "bound", "recorded"))),
           "<nav aria-label=\"papers\"><ul>%s</ul></nav>" % "".join(
               '<li><a href="#%s">%s</a>: %d rows, %d red</li>' % (p["short"].replace(" ", "-"), html.escape(p["short"]),
               sum(len(f["rows"]) for f in p["figures"]), sum(bool(r["red"]) for f in p["figures"] for r in f["rows"])) for p in papers)]
    for p in papers:
        out.append('<h2 id="%s">%s</h2><p class="note">%s</p>' % (p["short"].replace(" ", "-"), html.escape(p["title"]), html.escape(p["preface"])))
        out += [figure_html(f, text, band_text) for f in p["figures"]]
    out.append("</body></html>\n")
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as f:
        f.write("\n".join(out))
    os.replace(part, path)
