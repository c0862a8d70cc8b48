#!/usr/bin/env python3
"""tests/bench/figures.py – the README's results, measured here: its tables as Markdown, with the
machine and the day. Programs run in turns, medians count; REPEAT (5), CLASS (A), BIN, BUILD. Peers
by path, as in npb_core: PEER_BT, PEER_SP, PEER_LU. What cannot run here has a dash.
`figures.py --picture FILE.svg [report/bt-mz.json]` draws the README's comparison of all policies
instead: of what `make demo` has left, or of runs of its own.
"""
import datetime, json, os, re, shutil, statistics, subprocess, sys, tempfile
from xml.sax.saxutils import escape

BIN, BUILD = os.environ.get("BIN", "bin"), os.environ.get("BUILD", "build")
REPEAT, CLASS = int(os.environ.get("REPEAT", 5)), os.environ.get("CLASS", "A")
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WORK = tempfile.mkdtemp()


def output(command, **more):
    """What a command prints; nothing where it fails."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         env={**os.environ, **MPI, **more})
    return run.stdout if run.returncode == 0 else ""


def result(command):
    """The JSON of one run of a program, {} where it fails."""
    path = os.path.join(WORK, "json")
    if os.path.exists(path):
        os.remove(path)
    output(command + ["--quiet", "--json", path])
    return json.load(open(path)) if os.path.exists(path) else {}


def in_turns(runs):
    """Medians of what each function gives, called in turns; None where one gives nothing."""
    seen = {name: [] for name in runs}
    for _ in range(REPEAT):
        for name, run in runs.items():
            seen[name].append(run())
    return {name: None if None in x else statistics.median(x) for name, x in seen.items()}


def number(x, digits=3):
    return "–" if x is None else f"{float(f'{x:.{digits}g}'):,.10g}"


def over(a, b):
    return "–" if a is None or not b else f"{a / b:.2f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def official(solver):
    """Mop/s of the official binary, None without one."""
    path = os.environ.get(f"PEER_{solver.upper()}")
    seen = path and re.search(r"Mop/s total\s*=\s*([\d.]+)", output([path], OMP_NUM_THREADS="1"))
    return float(seen.group(1)) if seen else None


def solvers():
    mpirun = shutil.which("mpirun") and os.cpu_count() > 1

    def solve(solver, layout, *before):
        command = [*before, f"{BIN}/{solver}-mz", "--class", CLASS, "--layout", layout]
        return lambda: result(command).get("rate")

    rows = []
    for s in ("bt", "sp", "lu"):
        runs = {"one": solve(s, "1x1"), "peer": lambda: official(s)}
        if os.cpu_count() > 1:
            runs["units"] = solve(s, "2x1")
        if mpirun:
            runs["ranks"] = solve(s, "1x1", "mpirun", "-n", "2")
        got = in_turns(runs)
        one = got["one"]
        rows.append([f"{s.upper()}-MZ", number(one), number(got["peer"]), over(one, got["peer"]),
                     over(got.get("units"), one), over(got.get("ranks"), one)])
    table(["", "Evenkeel, Mop/s", "official Fortran, Mop/s", "ratio", "2 units", "2 ranks"], rows)


def span(values, digits=2):
    """Least to most, as a bench prints them."""
    if not values:
        return "–"
    ends = [number(x, digits) for x in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def seen(text, pattern):
    return [float(x) for x in re.findall(pattern, text, re.MULTILINE)]


def searches():
    jobs = (("okada", "gorkha"), ("mogi", "unimak"), ("okada", "parkfield"), ("mogi", "campi"))

    def search(program, job, layout="1x1"):
        path = f"okada_mogi/examples/{job}.json"
        command = [f"{BIN}/{program}", path, "--layout", layout, "--out", "/dev/null"]
        return lambda: result(command).get("search_s")

    got = in_turns({job: search(program, job) for program, job in jobs})
    return ", ".join(f"{job} {number(got[job], 2)}" for _, job in jobs) + " s"


def programs():
    def bench(name, *words, **more):
        return output([f"{BUILD}/bench/{name}", *words], **more)

    forms = bench("okada_mogi")
    fields = bench("mcsem")
    times = bench("kirchhoff_tt")
    sums = bench("kirchhoff")
    cells = r"^40 .*? {} +(\d+) "
    updates = r"^{} .*? (\d+) M updates/s"
    table(["program", "what", "seen, one core", "command"], [
        ["`okada`, `mogi`", "searches of the four examples, exactly", searches(),
         "`bin/okada okada_mogi/examples/gorkha.json --layout 1x1`"],
        ["", "Okada and Mogi responses a second",
         " and ".join(span(seen(forms, rf"^{m} +([\d.]+) M resp")) + " M" for m in ("okada", "mogi")),
         "`make bench BENCH=okada_mogi`"],
        ["`mcsem`", "pairs a second with all derivatives, 40 layers, exact and shared mode",
         "; ".join(span(seen(fields, cells.format(m))) for m in ("exact", "shared")),
         "`make bench BENCH=mcsem`"],
        ["`kirchhoff-tt`", "table nodes a second, linear velocities",
         span(seen(times, r"^(?:const|gradient)\S* +\S+ +([\d.]+)")) + " M",
         "`make bench BENCH=kirchhoff_tt`"],
        ["`kirchhoff-mig`", "updates a second, without and with anti-alias levels: the sum alone; all from the file",
         "; ".join(span(seen(sums, updates.format(w))) + " M" for w in ("sum_column:", "S1")),
         "`make bench BENCH=kirchhoff`"]])


def machine():
    model = re.search(r"Model name:\s*(.*)", output(["lscpu"])) if shutil.which("lscpu") else None
    level = result([f"{BIN}/bt-mz", "--class", "S", "--layout", "1x1"]).get("isa", "?")
    compiler = output([os.environ.get("CC", "gcc").split()[-1], "--version"]).split("\n")[0]
    print(f"{model.group(1) if model else 'unknown processor'}, level {level}, {compiler}, "
          f"{datetime.date.today()}; class {CLASS}, medians of {REPEAT} runs in turns:\n")


def picture(path, made=None):
    """Bars of all policies of BT-MZ class W on a core and a device, and the lower bound."""
    command = [f"{BIN}/bt-mz", "--class", "W", "--layout", "1x1+1", "--compare"]
    runs = (json.load(open(made)) if made else
            result(command + ["--repeat", str(REPEAT), "--profile=off"]))["runs"]
    most = max(r["computation_s"] + r["communication_s"] for r in runs)
    row, left, width = 20, 170, 520

    def bar(x, y, seconds, colour):
        return (f'<rect x="{left + width * x / most:.1f}" y="{y}" height="14" fill="{colour}" '
                f'width="{width * seconds / most:.1f}"/>')

    lines = []
    for i, r in enumerate(runs):
        y = 30 + row * i
        total = r["computation_s"] + r["communication_s"]
        lines += [f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{escape(r["schedule"])}</text>',
                  bar(0, y, r["computation_s"], "#3465b0"),
                  bar(r["computation_s"], y, r["communication_s"], "#d9822b"),
                  f'<text x="{left + width * total / most + 6:.1f}" y="{y + 11}">{r["seconds"]:.3f} s</text>']
    bound, high = left + width * runs[0]["lower_bound_s"] / most, 30 + row * len(runs)
    lines.append(f'<path d="M{bound:.1f} 24V{high}" stroke="#222" stroke-dasharray="4 3"/>'
                 f'<text x="{bound:.1f}" y="18" text-anchor="middle">lower bound</text>')
    words = "blue: computation, orange: exchanges"
    with open(path, "w") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {high + 24}" role="img" '
                  f'font-family="sans-serif" font-size="12">\n<title>{escape(" ".join(command[1:]))}'
                  f'</title>\n<rect width="100%" height="100%" fill="#fff"/>\n'
                  + "\n".join(lines) +
                  f'\n<text x="{left}" y="{high + 16}">{words}</text>\n</svg>\n')


try:
    if sys.argv[1:2] == ["--picture"]:
        picture(*sys.argv[2:4])
    else:
        machine()
        solvers()
        programs()
finally:
    shutil.rmtree(WORK)
