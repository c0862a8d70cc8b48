"""tests/replay_papers.py – for tests/replay.py: what is computed of each paper.

A function for each paper fills four dictionaries: ours (values of this run), rule (the same worked out here, from
the paper's text, without our policies), bound (what nothing can beat) and pictures (SVG by figure)."""
import functools
import heapq
import json
import math
import os
import statistics
import subprocess
import tempfile

from replay_page import bars, gantt, lines

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("BIN", os.path.join(ROOT, "bin"))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))


def run(command, **options):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, **options).stdout)


def simulate(case, schedules, cold=True):
    """{schedule: its run} by cu-plan; schedules by their names in the papers' tables, or {name: spec}."""
    specs = schedules if isinstance(schedules, dict) else {s: s for s in schedules}
    result = run([os.environ.get("CU_PLAN", os.path.join(BIN, "cu-plan")), "--simulate", "-", "--schedules",
                  ",".join(specs.values()), "--json", "-"] + ["--cold"] * cold, input=json.dumps(case).encode())
    return dict(zip(specs, result["runs"]))


# ---- the papers' rules, a second time ---------------------------------------------------------------
def static(n, units, first=0):
    """Consecutive tasks, n/m each: owner of each task."""
    return [first + next(c for c in range(units) if t < n * (c + 1) // units) for t in range(n)]


def dynamic(cost, speed):
    """In natural order to whoever is idle first."""
    idle = [(0.0, u) for u in range(len(speed))]
    owner = []
    for c in cost:
        free, u = heapq.heappop(idle)
        owner.append(u)
        heapq.heappush(idle, (free + c / speed[u], u))
    return owner


def static_pcf(n, ncpu, ngpu, pcf):
    """Whole groups of Ngpu PCF + Ncpu tasks, and of the remainder up to Ngpu PCF to the GPUs; `static` in each."""
    share = ngpu * pcf
    groups = math.floor(n / (share + ncpu))
    on_gpus = round(groups * share + min(n - groups * (share + ncpu), share)) if ngpu else 0
    return static(n - on_gpus, ncpu) + static(on_gpus, ngpu, ncpu)


def naive(n, units):
    return [min(t // (n // units), units - 1) for t in range(n)]


def descending(cost):
    return sorted(range(len(cost)), key=lambda t: (-cost[t], t))


def round_robin(cost, units):
    owner = [0] * len(cost)
    for i, t in enumerate(descending(cost)):
        owner[t] = i % units
    return owner


def heft(cost, speed):
    """The largest first, where it ends first."""
    load = [0.0] * len(speed)
    owner = [0] * len(cost)
    for t in descending(cost):
        end = [x + cost[t] / s for x, s in zip(load, speed)]
        owner[t] = u = end.index(min(end))
        load[u] = end[u]
    return owner


def sorted_greedy(cost, units):
    return heft(cost, [1.0] * units)


def loads(cost, owner, speed):
    load = [0.0] * len(speed)
    for t, u in enumerate(owner):
        load[u] += cost[t] / speed[u]
    return load


def shortest(n, speed):
    """Seconds of n equal tasks on units of these speeds, at best."""
    times = sorted(k / s for s in speed for k in range(1, n + 1))
    return times[n - 1] if n else 0.0


def area(cost, speed):
    """What no assignment beats: all work over all speed, and the longest task where it is fastest."""
    return max(sum(cost) / sum(speed), max(cost) / max(speed))


def spread(values):
    values = list(values)
    return [min(values), max(values)]


# ---- NPB-MZ (Gonzalez & Morancho 2024) --------------------------------------------------------------
NPB_NAMES = {"static": "Static", "dynamic": "Dynamic", "static-pcf": "Static-pcf", "guided-runtime": "Guided",
             "clustered-guided": "Clustered Guided", "evenkeel": "evenkeel (ours)"}


def npb_units(b, cores, gpus, index):
    used = cores - gpus if cores == 64 else cores
    ncpu = 1 if b["wide"] else used
    return ([{"kind": "cpu", "count": ncpu, "speed": 1e3 / b["cpu_ms"][index], "width": used if b["wide"] else 1}]
            + [{"kind": "device", "count": 1, "speed": 1e3 / b["gpu_ms"], "space": "gpu%d" % g} for g in range(gpus)])


def npb_case(paper, name, index, gpus, steps=None):
    b = paper["benchmarks"][name]
    with open(os.path.join(ROOT, b["case"]), encoding="utf-8") as f:
        tasks = json.load(f)["tasks"]
    n = len(tasks["cost"])
    mean = sum(tasks["cost"]) / n
    tasks["cost"] = [c / mean for c in tasks["cost"]]
    model = paper["communication"]
    per_byte = model["host_ms"] * 1e-3 / model["bytes"]
    faces, size = sum(map(len, tasks["face_bytes"])), sum(map(sum, tasks["face_bytes"]))
    return {"name": name, "units": npb_units(b, paper["cores"][index], gpus, index), "tasks": tasks,
            "steps": steps or paper["steps"], "link": {"latency_s": model["link_s"], "bandwidth_Bps": model["link_Bps"]},
            "exchange": {"fixed_s": 0, "host_s_per_byte": per_byte, "device_s_per_byte": per_byte * model["device"],
                         "cross_s": 0, "link_s_per_byte": 1 / model["link_Bps"] + model["link_s"] * faces / size}}


def npb_exchange(case, owner):
    """The same model of the communication period, for an assignment: seconds."""
    memory = [0] * case["units"][0]["count"] + list(range(1, len(case["units"])))
    inside, across = [0.0] * len(case["units"]), [0.0] * len(case["units"])
    for t, row in enumerate(case["tasks"]["neighbours"]):
        for other, size in zip(row, case["tasks"]["face_bytes"][t]):
            a, b = memory[owner[t]], memory[owner[other]]
            if a == b:
                inside[a] += size
            else:
                across[a] += size
                across[b] += size
    e = case["exchange"]
    return (inside[0] * e["host_s_per_byte"] + max(inside[1:], default=0) * e["device_s_per_byte"]
            + max(across[1:], default=0) * e["link_s_per_byte"])


def npb_rules(case, pcf):
    speed = [u["speed"] for u in case["units"] for _ in range(u["count"])]
    cost, n = case["tasks"]["cost"], len(case["tasks"]["cost"])
    ncpu = case["units"][0]["count"]
    owners = {"static": static(n, len(speed)), "dynamic": dynamic(cost, speed),
              "static-pcf": static_pcf(n, ncpu, len(speed) - ncpu, pcf) if len(speed) > ncpu else static(n, ncpu)}
    equal = max(cost) - min(cost) < 1e-9
    seconds = {p: (max(loads(cost, o, speed)), npb_exchange(case, o)) for p, o in owners.items()}
    return seconds, shortest(n, speed) if equal else area(cost, speed)


def npb_configuration(paper, name, index, gpus, cells, at_best):
    b, model = paper["benchmarks"][name], paper["communication"]
    case = npb_case(paper, name, index, gpus)
    n = len(case["tasks"]["cost"])
    specs = {p: p for p in NPB_NAMES}
    if gpus:
        specs["static-pcf"] += ":pcf=%g" % b["pcf"][index]
    serial = 1e-3 * b["serial_ms"] * n
    faces = sum(map(sum, case["tasks"]["face_bytes"]))
    serial_comm = faces * case["exchange"]["host_s_per_byte"] * model["serial"]
    seconds, best = npb_rules(case, b["pcf"][index])
    at_best.append(serial / best)
    # The exchange that opens the first step finds everything on the host.
    first, rest = faces * case["exchange"]["host_s_per_byte"], case["steps"] - 1
    ours = {p: (r["makespan_s"], (r["communication_s"] - first) / rest) for p, r in simulate(case, specs).items()}
    for who, times in (("ours", ours), ("rule", seconds)):
        for p, (compute, comm) in times.items():
            cells.setdefault((who, p), []).append(
                {"computation": serial / compute, "communication": serial_comm / comm, "ms": (1e3 * compute, 1e3 * comm),
                 "total": (serial + serial_comm) / (compute + comm)})


def npb_evolution(paper, name, gpus, index, steps):
    """Means of the CPU units' and of the GPUs' seconds in these steps of clustered-guided."""
    cpu, gpu = [], []
    for step in steps:
        case = npb_case(paper, name, index, gpus, step)
        r = simulate(case, ["clustered-guided"])["clustered-guided"]
        ncpu = case["units"][0]["count"]
        cpu.append(1e3 * statistics.mean(r["units"]["busy_s"][:ncpu]))
        gpu.append(1e3 * statistics.mean(r["units"]["busy_s"][ncpu:]))
    return cpu, gpu, r["steps_to_steady"]


def npb_pictures(paper, name, figure, total, table, pictures):
    """Speed-ups of the computation period and of the whole, by cores, for no, one and two GPUs."""
    cores = [str(c) for c in paper["cores"]]
    for key, what, into in (("computation", "computation period", figure), ("total", "computation and communication", total)):
        if not into:
            continue
        for gpus in range(3):
            groups = {NPB_NAMES[p]: [c[key] for c in table[gpus]["ours", p]] for p in NPB_NAMES}
            pictures.setdefault(into, []).append(
                bars("%s, %s, %d GPU%s: speed-up over one core" % (name, what, gpus, "" if gpus == 1 else "s"), cores, groups,
                     "CPU cores", "speed-up", marks=[c.get(str(gpus)) for c in paper["marks"].get(into, [])]))
    if figure:
        groups = {NPB_NAMES[p]: [c["ms"][1] for c in table[1]["ours", p]] for p in NPB_NAMES}
        pictures[figure].append(bars("%s, communication period with 1 GPU" % name, cores, groups, "CPU cores", "ms a step"))


def npb_mz(paper, ours, rule, bound, pictures):
    for name, b in paper["benchmarks"].items():
        for cores, ms in zip(paper["cores"], b["cpu_ms"]):
            ours["pcf %s %d" % (name, cores)] = ms / b["gpu_ms"]
        table = []
        for gpus in range(3):
            cells, at_best = {}, []
            for index in range(len(paper["cores"])):
                npb_configuration(paper, name, index, gpus, cells, at_best)
            table.append(cells)
            for (who, p), configurations in cells.items():
                for key in ("computation", "communication", "total"):
                    into = ours if who == "ours" else rule
                    into["%s %s %s %d" % (name, key, p, gpus)] = spread(c[key] for c in configurations)
                    for c, cores in zip(configurations, paper["cores"]):
                        into["%s %s %s %d at %d" % (name, key, p, gpus, cores)] = c[key]
            bound["%s computation evenkeel %d" % (name, gpus)] = spread(at_best)
        npb_pictures(paper, name, b.get("figure"), b["total"], table, pictures)
    for e in paper["evolutions"]:
        cpu, gpu, steady = npb_evolution(paper, e["benchmark"], e["gpus"], e["index"], e["steps"])
        ours[e["key"] + " cpu"], ours[e["key"] + " gpu"], ours[e["key"] + " steady"] = cpu[-1], gpu[-1], steady
        pictures[e["figure"]] = [lines("%s under Clustered Guided, %s: time of a step" % (e["benchmark"], e["layout"]),
                                       {"mean of CPU units": (e["steps"], cpu), "mean of GPUs": (e["steps"], gpu)}, "time step", "ms")]


# ---- mCSEM (Dagostini 2022) -------------------------------------------------------------------------
MCSEM_EQUAL = ["naive", "round-robin", "sorted-greedy"]


def mcsem_rule(policy, cost, speed):
    m = len(speed)
    owner = {"naive": lambda: naive(len(cost), m), "round-robin": lambda: round_robin(cost, m),
             "sorted-greedy": lambda: sorted_greedy(cost, m), "heft": lambda: heft(cost, speed)}[policy]()
    return loads(cost, owner, speed)


def mcsem_case(paper, cost, groups):
    units = [{"kind": "cpu", "count": count, "speed": paper["pairs_per_s"] * paper["factors"][node]}
             for node, count in groups.items()]
    return {"name": "mCSEM", "units": units, "tasks": {"cost": cost}, "steps": 1}


def mcsem_speeds(case):
    return [u["speed"] for u in case["units"] for _ in range(u["count"])]


def mcsem_equal(paper, cost, ours, rule, pictures):
    serial = paper["serial_s"]
    one = sum(cost) / paper["pairs_per_s"] + serial
    speedup, most, ideal, distance = {}, {}, {}, {}
    for workers in paper["workers"]:
        case = mcsem_case(paper, cost, {"draco": workers})
        runs = simulate(case, MCSEM_EQUAL, cold=False)
        mean = sum(cost) / paper["pairs_per_s"] / workers
        for p in MCSEM_EQUAL:
            busy = runs[p]["units"]["busy_s"]
            by_rule = mcsem_rule(p, cost, mcsem_speeds(case))
            key = "%s %d" % (p, workers)
            for table, load in ((ours, busy), (rule, by_rule)):
                longest = max(load)
                table["speed-up " + key] = one / (longest + serial)
                table["seconds " + key] = 100 * (longest + serial)
                table["distance " + key] = 3 * max(abs(b - mean) for b in load)
                table["idle " + key] = 100 * (1 - mean / (longest + serial))
                table["pairs " + key] = longest * paper["pairs_per_s"]
            speedup.setdefault(p, ([], []))[0].append(workers)
            speedup[p][1].append(ours["speed-up " + key])
            most.setdefault(p, ([], []))[0].append(workers)
            most[p][1].append(max(busy) * paper["pairs_per_s"])
            ideal.setdefault(p, ([], []))[0].append(workers)
            ideal[p][1].append(sum(abs(b - mean) for b in busy) * paper["pairs_per_s"])
            if workers == 112:
                distance[p] = (list(range(workers)), [3 * (b - mean) for b in busy])
                ours["nineteenth " + p], rule["nineteenth " + p] = busy[18] / busy[0], by_rule[18] / by_rule[0]
    for p, better in (("round-robin", "gain round-robin"), ("sorted-greedy", "gain sorted-greedy")):
        for table in (ours, rule):
            table[better] = 100 * (1 - table["seconds %s 112" % p] / table["seconds naive 112"])
    pictures["Figure 6.2"] = [lines("Sum of all workers' distances from the ideal load", ideal, "workers", "pairs"),
                              lines("Largest load of a worker", most, "workers", "pairs")]
    pictures["Figure 6.3"] = [lines("Three iterations on 112 workers: distance from the ideal time", distance, "worker", "s")]
    seconds = {p: [ours["seconds %s 112" % p]] for p in MCSEM_EQUAL}
    seconds["the thesis"] = [None]
    pictures["Figure 6.4"] = [bars("100 iterations on 112 Draco cores", MCSEM_EQUAL,
                                   {"ours": [ours["seconds %s 112" % p] for p in MCSEM_EQUAL], "the thesis": paper["figure_6_4"]},
                                   "policy", "s")]
    straight = ([1, 212], [1, 212])
    small = {p: ([w for w in x if w <= 112], [v for w, v in zip(x, y) if w <= 112]) for p, (x, y) in speedup.items()}
    all_ = {p: ([w for w in x if w <= 212], [v for w, v in zip(x, y) if w <= 212]) for p, (x, y) in speedup.items()}
    pictures["Figure 6.5"] = [lines("Speed-up on Draco", dict(small, ideal=([1, 112], [1, 112])), "workers", "speed-up")]
    pictures["Figure 6.6"] = [lines("Speed-up on Draco and Hype", dict(all_, ideal=straight), "workers", "speed-up")]


def mcsem_unlike(paper, cost, ours, rule, bound, pictures):
    policies = ["sorted-greedy", "abe", "heft", "evenkeel"]
    forward, makespan = {p: [] for p in policies}, {p: [] for p in policies}
    for name, groups in paper["scenarios"].items():
        case = mcsem_case(paper, cost, groups)
        runs = simulate(case, policies, cold=False)
        speed = mcsem_speeds(case)
        mean = sum(cost) / sum(speed)
        offsets = {}
        for p in policies:
            busy = runs[p]["units"]["busy_s"]
            ours["forward %s %s" % (p, name)] = runs[p]["makespan_s"]
            ours["seconds %s %s" % (p, name)] = 100 * (runs[p]["makespan_s"] + paper["serial_s"])
            forward[p].append(runs[p]["makespan_s"])
            makespan[p].append(100 * (runs[p]["makespan_s"] + paper["serial_s"]))
            offsets[p] = (list(range(len(busy))), [b - mean for b in busy])
            ours["distance %s %s" % (p, name)] = max(abs(b - mean) for b in busy)
        for p in ("sorted-greedy", "heft"):
            load = mcsem_rule(p, cost, speed)
            rule["forward %s %s" % (p, name)] = max(load)
            rule["seconds %s %s" % (p, name)] = 100 * (max(load) + paper["serial_s"])
            rule["distance %s %s" % (p, name)] = max(abs(b - mean) for b in load)
        bound["forward evenkeel %s" % name] = area(cost, speed)
        bound["forward abe %s" % name] = area(cost, speed)
        pictures.setdefault("Figure 6.8", []).append(
            lines("Scenario %s: distance from the ideal time" % name, offsets, "worker", "s"))
    names = list(paper["scenarios"])
    pictures["Figure 6.7"] = [bars("The forward step of one iteration", names, forward, "scenario", "s")]
    pictures["Figure 6.9"] = [bars("100 iterations", names[:2], {p: v[:2] for p, v in makespan.items()}, "scenario", "s")]
    for table in (ours, rule):
        table["gain B"] = 100 * (1 - table["seconds heft B"] / table["seconds sorted-greedy 112"])
        table["gain A"] = 100 * (1 - table["seconds heft A"] / table["seconds naive 112"])
        table["gain C over B"] = 100 * (1 - table["forward heft C"] / table["forward heft B"])


def mcsem_models(paper, ours):
    """Schedulers of bin/mcsem whose model is the Original's to the last bit: a PSNR without end, as in Section 6.5."""
    with tempfile.TemporaryDirectory() as folder:
        survey = os.path.join(folder, "survey.csv")
        program = os.path.join(BIN, "mcsem")
        subprocess.run([program, "--generate", "tiny", "--out", survey], stdout=subprocess.DEVNULL, check=True)
        r = run([program, survey, "--compare", ",".join(paper["compared"]), "--iterations", "2", "--target", "15",
                 "--layout", "2x1", "--quiet", "--json", "-"])
    ours["equal models"] = sum(x["psnr_db"] == "infinite" for x in r["runs"] if x["schedule"] != paper["compared"][0])


def mcsem(paper, ours, rule, bound, pictures):
    with open(os.path.join(ROOT, paper["cells"]), encoding="utf-8") as f:
        cost = json.load(f)["tasks"]["cost"]
    ours["largest over smallest"] = max(cost) / min(cost)
    ours["pairs"], ours["cells"] = sum(cost), len(cost)
    pictures["Figures 5.2 and 5.5"] = [lines("Source-receiver pairs of the cells", {"pairs": (list(range(len(cost))), cost)},
                                             "cell", "pairs")]
    mcsem_equal(paper, cost, ours, rule, pictures)
    mcsem_unlike(paper, cost, ours, rule, bound, pictures)
    mcsem_models(paper, ours)
    for machines, key in ((2, "two"), (4, "four")):
        groups = dict(paper["scenarios"]["A"], optimizer=64 * machines)
        case = mcsem_case(paper, cost, groups)
        r = simulate(case, ["heft"], cold=False)["heft"]
        load = mcsem_rule("heft", cost, mcsem_speeds(case))
        ours["optimizer " + key], rule["optimizer " + key] = r["makespan_s"], max(load)
        ours["idle units " + key] = sum(t == 0 for t in r["units"]["tasks"])
        rule["idle units " + key] = sum(b == 0 for b in load)


# ---- Water-Level (Dietze, Hofmann & Rünger) ---------------------------------------------------------
def plan_moldable(law, nodes, count):
    # REPLAY_METHOD=taskp=datap puts another method in the place of one: tests see the replay turn red.
    asked, _, taken = os.environ.get("REPLAY_METHOD", "").partition("=")
    r = run([os.path.join(BIN, "cu-run"), "plan", "--tasks", "%d x %s" % (count, law), "--nodes", nodes, "--json", "-"])
    span = {m["method"]: m["makespan_s"] for m in r["methods"]}
    if taken:
        span[asked] = span[taken]
    span["bound"] = r["lower_bound_s"]
    return span


def law_of(text):
    return lambda p: eval(text, {"__builtins__": {}}, {"p": p, "log": math.log})  # from our own table


def list_alone(count, cores, seconds):
    """Makespan of equal tasks, each on one core: cores of like speed in groups [(how many, speed)]."""
    return shortest(count, [f / seconds for many, f in cores for _ in range(many)])


def waterlevel(paper, ours, rule, bound, pictures):
    for e in paper["experiments"]:
        t = law_of(e["python"])
        cores = [(c, f) for c, f in e["cores"]]
        spans = {}
        for n in e["counts"]:
            for method, seconds in plan_moldable(e["law"], e["nodes"], n).items():
                spans.setdefault(method, []).append(seconds)
        key = e["key"]
        at = {n: i for i, n in enumerate(e["counts"])}
        for n in e["shown"]:
            ours["%s taskp %d" % (key, n)] = spans["taskp"][at[n]]
            rule["%s taskp %d" % (key, n)] = list_alone(n, cores, t(1))
            ours["%s datap %d" % (key, n)] = spans["datap"][at[n]]
            rule["%s datap %d" % (key, n)] = shortest(n, [f / t(c) for c, f in e["whole"]])
            for m in ("waterl", "wlsearch", "evenkeel"):
                ours["%s %s %d" % (key, m, n)] = spans[m][at[n]]
            bound["%s evenkeel %d" % (key, n)] = spans["bound"][at[n]]
        pairs = list(zip(spans["waterl"], spans["wlsearch"], spans["taskp"], spans["datap"], spans["evenkeel"],
                         [min(v) for v in zip(*(spans[m] for m in ("taskp", "datap", "hcpa", "dcts", "waterl")))]))
        ours[key + " saved"] = 100 * statistics.mean(1 - s / w for w, s, *_ in pairs)
        ours[key + " waterl over taskp"] = max(w / a for w, _, a, *_ in pairs)
        ours[key + " wlsearch over taskp"] = max(s / a for _, s, a, *_ in pairs)
        ours[key + " waterl over datap"] = max(w / d for w, _, _, d, *_ in pairs)
        ours[key + " wlsearch over best"] = max(s / best for _, s, *_, best in pairs)
        ours[key + " evenkeel over wlsearch"] = max(v / s for _, s, _, _, v, _ in pairs)
        del spans["bound"]
        pictures.setdefault(e["figure"], []).append(
            lines(e["title"], {m: (e["counts"], v) for m, v in spans.items()}, "tasks", "makespan in s"))
    waterlevel_speedups(paper, ours, rule, pictures)


def waterlevel_speedups(paper, ours, rule, pictures):
    t = law_of(paper["fem"]["python"])
    for tasks in (16, 92):
        curves = {}
        for step in paper["fem"]["sets"]:
            spans = plan_moldable(paper["fem"]["law"], step["nodes"], tasks)
            alone = tasks * t(1) / paper["fem"]["fastest"]
            for m, seconds in spans.items():
                if m == "bound":
                    continue
                curves.setdefault(m, ([], []))[0].append(step["p"])
                curves[m][1].append(alone / seconds)
                ours["speed-up %s %d tasks %d cores" % (m, tasks, step["p"])] = alone / seconds
            rule["speed-up taskp %d tasks %d cores" % (tasks, step["p"])] = alone / list_alone(tasks, step["cores"], t(1))
        pictures.setdefault("Figure 9", []).append(lines("Speed-up of %d FEM tasks" % tasks, curves, "cores", "speed-up"))


# ---- Kirchhoff migration ----------------------------------------------------------------------------
def nodes_of(count, jobs, costs):
    case = {"name": "microjobs", "units": [{"kind": "cpu", "count": count, "speed": 1}], "tasks": {"cost": costs}, "steps": 1}
    return simulate(case, [jobs], cold=False)[jobs]["makespan_s"]


def kirchhoff_tables(paper, sets, ours, rule, pictures):
    """Table 2: 20 microjobs on 1 to 16 nodes, each node's time of a microjob by the donation code."""
    times, scaled = {"off": [], "on": []}, {"KM-L": [], "KM-H": []}
    draws = range(paper["draws"])
    for nodes in paper["nodes"]:
        seconds, again = {"off": [], "on": []}, {"off": [], "on": []}
        for d in draws:
            shots = [str(paper["shots"][(i * 7 + d) % 3]) for i in range(paper["microjobs"])]
            for mode in seconds:
                costs = [sets[s][mode][(d * paper["microjobs"] + i) % len(sets[s][mode])] for i, s in enumerate(shots)]
                seconds[mode].append(nodes_of(nodes, "dynamic", costs))
                again[mode].append(max(loads(costs, dynamic(costs, [1.0] * nodes), [1.0] * nodes)))
        for mode in seconds:
            times[mode].append((statistics.median(seconds[mode]), statistics.median(again[mode])))
        ours["TT speed-up %d" % nodes] = times["off"][-1][0] / times["on"][-1][0]
        for mode, label in (("off", "KM-L"), ("on", "KM-H")):
            ours["TT %s %d" % (label, nodes)] = times[mode][0][0] / times[mode][-1][0]
            rule["TT %s %d" % (label, nodes)] = times[mode][0][1] / times[mode][-1][1]
            scaled[label].append(ours["TT %s %d" % (label, nodes)])
    x = paper["nodes"]
    pictures["Table 2"] = [lines("TT: speed-up over one node",
                                 dict({k + ", ours": (x, v) for k, v in scaled.items()},
                                      **{k + ", paper": (x, [v[0] / s for s in v]) for k, v in paper["table_2"].items()}),
                                 "nodes", "speed-up")]
    curves = {k + ", paper": (x, [v[0] / s for s in v]) for k, v in paper["table_3"].items()}
    for label, slots in (("KM-L", 1), ("KM-H", 3)):
        costs = [1.0] * paper["mig_microjobs"]
        one = nodes_of(slots, "dynamic", costs)
        curves[label + ", ours"] = (x, [one / nodes_of(slots * nodes, "dynamic", costs) for nodes in x])
        for nodes, s in zip(x, curves[label + ", ours"][1]):
            ours["MIG %s %d" % (label, nodes)] = s
            rule["MIG %s %d" % (label, nodes)] = math.ceil(len(costs) / slots) / math.ceil(len(costs) / (slots * nodes))
    pictures["Table 3"] = [lines("MIG: speed-up over one node", curves, "nodes", "speed-up")]


def kirchhoff_switching(paper, ours, rule, bound, pictures):
    """Table 4: chunks of traces on CPU, device, both."""
    rates = paper["table_4"]
    cpu = {"kind": "cpu", "count": 1, "speed": rates["CPU-only"]}
    gpu = {"kind": "device", "count": 1, "speed": rates["GPU-only"]}
    n = paper["chunks"]
    got = {}
    for key, units in (("CPU-only", [cpu]), ("GPU-only", [gpu]), ("Hybrid", [cpu, gpu])):
        case = {"name": "traces", "units": units, "tasks": {"cost": [1.0] * n}, "steps": 1}
        r = simulate(case, ["greedy"], cold=False)["greedy"]
        got[key] = n / r["makespan_s"]
    ours["rate Hybrid"], ours["rate GPU-only"], ours["rate CPU-only"] = got["Hybrid"], got["GPU-only"], got["CPU-only"]
    bound["rate Hybrid"] = rates["CPU-only"] + rates["GPU-only"]
    ours["traces on device"] = 100 * r["units"]["tasks"][1] / n
    rule["traces on device"] = 100 * rates["GPU-only"] / (rates["CPU-only"] + rates["GPU-only"])
    ours["hybrid over GPU"] = got["Hybrid"] / got["GPU-only"]
    pictures["Table 4"] = [bars("Traces a second, system-wide", list(got), {"ours": list(got.values()),
                                                                          "paper": [rates[k] for k in got]}, "units", "traces/s")]


def kirchhoff_shots(paper, sets, ours, pictures):
    """Figures 1 and 2 from the donation code: who did what, and each shot's gain by its share on a device."""
    one = sets[str(paper["sample"])]
    for mode, key in (("off", "static over off"), ("static", "static over off"), ("on", "on over off")):
        if mode != "off":
            ours[key] = statistics.median(a / b for a, b in zip(one["off"], one[mode]))
        pictures.setdefault("Figure 1", []).append(
            gantt("A TT microjob of %d shots: %s" % (paper["sample"], {"off": "no device", "static": "devices fixed to threads",
                                                                       "on": "devices donated"}[mode]),
                  one[mode + " bars"][:-1], "time, in a ray's steps on a core", "thread"))
    ours["on over static"] = statistics.median(a / b for a, b in zip(one["static"], one["on"]))
    ours["donation loses"] = sum(b > a for a, b in zip(one["static"], one["on"]))
    took = {m: {} for m in ("off", "on")}
    there = {}
    for m in took:
        for _, shot, device, start, end in one[m + " bars"][:-1]:
            took[m][shot] = took[m].get(shot, 0) + end - start
            if m == "on" and device:
                there[shot] = there.get(shot, 0) + end - start
    share = [100 * there.get(s, 0) / took["on"][s] for s in sorted(took["on"])]
    gain = [took["off"][s] / took["on"][s] for s in sorted(took["on"])]
    ours["mean shot speed-up"] = statistics.mean(gain)
    ours["share and gain"] = statistics.correlation(share, gain)
    pictures["Figure 2"] = [lines("Gain of each shot by its time on a device", {"shots": (share, gain)},
                                  "% of the shot's time on a device", "speed-up", dots=True)]


def kirchhoff(paper, ours, rule, bound, pictures):
    sets = run([os.path.join(BUILD, "bench", "kirchhoff_donation")] + [str(s) for s in paper["shots"]])
    kirchhoff_shots(paper, sets, ours, pictures)
    kirchhoff_tables(paper, sets, ours, rule, pictures)
    kirchhoff_switching(paper, ours, rule, bound, pictures)


# ---- Okada and Mogi searches (Kyriakopoulos, Gallopoulos & Venetis) ---------------------------------
def hrdls(prefix, speed, launch, options):
    """HRDLS (its Eqs. 6 and 7) a second time: ends of the units' last batches, and batches of each unit."""
    n, m = len(prefix) - 1, len(speed)
    score, count, tasks, seconds = [0.0] * m, [0] * m, [0] * m, [0.0] * m
    idle = [(0.0, u) for u in range(m)]
    last = [(0, 0.0)] * m
    end, taken = [0.0] * m, 0
    while idle:
        now, u = heapq.heappop(idle)
        size, sec = last[u]
        if size:
            tasks[u] += size
            seconds[u] += sec
            if (seconds[u] if options["average"] else sec) >= options["t_min"]:
                score[u] = tasks[u] / seconds[u] if options["average"] else size / sec
        others = [v for v in range(m) if v == u or count[v] or score[v]]
        known = all(score[v] for v in others)
        batch = options["b"] * n * (score[u] / sum(score[v] for v in others) if known else 1 / len(others))
        if not known or count[u] <= options["s"]:
            batch = min(batch, options["c"] * 2.0 ** min(count[u], 60))
        size = min(max(math.ceil(batch), 1), n - taken)
        if not size:
            continue
        sec = launch[u] + (prefix[taken + size] - prefix[taken]) / speed[u]
        last[u] = (size, sec)
        taken += size
        count[u] += 1
        end[u] = now + sec
        heapq.heappush(idle, (end[u], u))
    return end, count


def hrdls_spec(o):
    return "hrdls:b=%.12g,c=%d,s=%d,t_min=%g%s" % (o["b"], o["c"], o["s"], o["t_min"], ",average" if o["average"] else "")


@functools.lru_cache(None)
def uneven(n, scatter, seed):
    """Costs with a mean of one: where the physics excludes trials they take next to nothing."""
    state, cost = seed, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        cost.append(1 + scatter * (2 * (state >> 11) / 2 ** 53 - 1))
    mean = sum(cost) / n
    return [c / mean for c in cost]


def delays(paper, units, launch, configurations, ours, rule):
    """Relative delay (Eq. 8) over all instances against the theoretical times (Eq. 9), for each configuration."""
    total = {key: [0.0, 0.0] for key in configurations}
    for i, (model, trials) in enumerate(paper["instances"]):
        n = int(min(trials, paper["tasks"]))
        per_task = trials / n
        cost = uneven(n, paper["scatter"], i + 1)
        prefix = [0.0]
        for c in cost:
            prefix.append(prefix[-1] + c)
        rate = paper["gpu_trials_per_s"][model] / paper["systems"]["A"][1] / per_task
        speed = [u * rate for u in units]
        case = {"name": model, "tasks": {"cost": cost}, "steps": 1,
                "units": [{"kind": "cpu", "count": 1, "speed": s, "launch_s": x} for s, x in zip(speed, launch)]}
        options = {}
        for key, o in configurations.items():
            b = min(1.0, o["b"] / trials if o["b"] > 1 else o["b"])
            c = max(1, round(o["c"] / per_task)) if o.get("c") else math.ceil(n / (256 * len(units)))
            options[key] = {"b": b, "c": min(c, 10 ** 9), "s": o["s"], "t_min": paper["t_min"], "average": o.get("average", False)}
        alone = [x + n / s for s, x in zip(speed, launch)]
        target = 1 / sum(1 / t for t in alone)
        runs = simulate(case, {key: hrdls_spec(o) for key, o in options.items()})
        for key, o in options.items():
            total[key][0] += runs[key]["makespan_s"] / target - 1
            total[key][1] += max(hrdls(prefix, speed, launch, o)[0]) / target - 1
    for key, (a, b) in total.items():
        ours["delay " + key], rule["delay " + key] = a, b
    return {key: a for key, (a, _) in total.items()}


def mean_time(table, paper, keys):
    """Mean over the instances of time over target, of the best of these configurations."""
    return min(table["delay " + k] for k in keys) / len(paper["instances"]) + 1


def okada_systems(paper, ours, rule, pictures):
    """Figures 10 to 13: CPU and GPU of each system, by b and by which ratio counts."""
    figures = {"10": (False, "b"), "11": (True, "b"), "12": (False, "fractions"), "13": (True, "fractions")}
    bars_of = {f: {} for f in figures}
    for name, units in paper["systems"].items():
        of = {f: ["%s %s %g" % (f, name, b) for b in paper[sizes]] for f, (_, sizes) in figures.items()}
        configurations = {key: {"b": b, "s": paper["s"], "average": average}
                          for f, (average, sizes) in figures.items() for key, b in zip(of[f], paper[sizes])}
        delays(paper, units, [paper["launch_s"]["cpu"], paper["launch_s"]["gpu"]], configurations, ours, rule)
        for table in (ours, rule):
            table["b = 1e8 " + name] = mean_time(table, paper, ["10 %s 1e+08" % name]) / mean_time(table, paper, of["10"])
            table["average " + name] = mean_time(table, paper, of["11"]) / mean_time(table, paper, of["10"])
            table["fractions " + name] = mean_time(table, paper, of["13"]) / mean_time(table, paper, of["11"])
        for f in figures:
            bars_of[f]["System " + name] = [ours["delay " + key] for key in of[f]]
    for f, (average, sizes) in figures.items():
        title = "b as %s, %s ratio" % ("a number of trials" if sizes == "b" else "a share of all trials", "average" if average else "last")
        pictures["Figure " + f] = [bars(title, ["%g" % b for b in paper[sizes]], bars_of[f], "b", "relative delay")]


def okada_cluster(paper, ours, rule, pictures):
    """Figures 14 to 16: nodes B and C, by b, c and s, with GPUs alone and with all; without limit."""
    b, c = paper["systems"]["B"], paper["systems"]["C"]
    unlimited = {}
    for figure, units, what in (("14", [b[1], c[1]], "GPUs alone"), ("15", [sum(b), sum(c)], "CPUs and GPUs")):
        keys = {(share, s): ["%s b=%g c=%g s=%d" % (figure, share, size, s) for size in paper["c"]]
                for share in paper["cluster_b"] for s in paper["cluster_s"]}
        configurations = {key: {"b": share, "c": size, "s": s}
                          for (share, s), row in keys.items() for key, size in zip(row, paper["c"])}
        free = ["16 %s b=%g" % (what, share) for share in paper["cluster_b"]]
        configurations.update({key: {"b": share, "c": 1e13, "s": 0} for key, share in zip(free, paper["cluster_b"])})
        delays(paper, units, [paper["launch_s"]["node"]] * 2, configurations, ours, rule)
        most = paper["cluster_b"][-1]
        for table in (ours, rule):
            row = keys[most, paper["cluster_s"][-1]]
            table["c = 1e7 " + figure] = mean_time(table, paper, [k for k in row if " c=1e+07 " in k]) / mean_time(table, paper, row)
            table["no limit " + figure] = mean_time(table, paper, free[-1:]) / mean_time(table, paper, row)
        pictures["Figure " + figure] = [
            bars("B and C, %s, b = %s" % (what, "MAX" if share == 1 else "%g of all" % share), ["%g" % size for size in paper["c"]],
                 {"s = %d" % s: [ours["delay " + k] for k in keys[share, s]] for s in paper["cluster_s"]}, "c, trials", "relative delay")
            for share in paper["cluster_b"]]
        unlimited[what] = [ours["delay " + k] for k in free]
    pictures["Figure 16"] = [bars("B and C without a limit of the first batches", ["MAX" if s == 1 else "%g" % s for s in paper["cluster_b"]],
                                  unlimited, "b", "relative delay")]


def okada_single(paper, ours, rule, pictures):
    """Figure 7: the smallest search with many trials for each thread of a GPU; Figure 9: batches on the cores of a CPU."""
    f = paper["figure_7"]
    threads = int(paper["instances"][0][1] / f["trials_per_thread"])
    for name, cores in f["gpu_cores"].items():
        case = {"name": name, "tasks": {"cost": [1.0] * threads}, "steps": 1,
                "units": [{"kind": "device", "count": cores, "space": "gpu", "speed": 1}]}
        r = simulate(case, ["static"], cold=False)["static"]
        ours["over full " + name], rule["over full " + name] = (r["makespan_s"] * cores / threads,
                                                                math.ceil(threads / cores) * cores / threads)
        ours["cores at work " + name], rule["cores at work " + name] = sum(t > 0 for t in r["units"]["tasks"]), min(threads, cores)
    f, curves = paper["figure_9"], {}
    cost = uneven(paper["tasks"], paper["scatter"], 1)
    for name, cores in f["cores"].items():
        case = {"name": name, "tasks": {"cost": cost}, "steps": 1, "units": [{"kind": "cpu", "count": cores, "speed": 1}]}
        runs = simulate(case, {"%d" % k: "dynamic:chunk=%d" % k for k in f["batches"]}, cold=False)
        took = {}
        for k in f["batches"]:
            batch = [sum(cost[i:i + k]) for i in range(0, len(cost), k)]
            took[k] = max(loads(batch, dynamic(batch, [1.0] * cores), [1.0] * cores))
        for k in f["batches"][1:]:
            ours["batches %s %d" % (name, k)] = runs["%d" % k]["makespan_s"] / runs["1"]["makespan_s"]
            rule["batches %s %d" % (name, k)] = took[k] / took[1]
        curves["System %s, %d cores" % (name, cores)] = [runs["%d" % k]["makespan_s"] * cores / len(cost) - 1 for k in f["batches"]]
    pictures["Figure 9"] = [bars("Cores alone: delay over even shares, by the size of batches", ["%d" % k for k in f["batches"]],
                                 curves, "batch, of %d" % paper["tasks"], "relative delay")]


def okada_balance(paper, ours, rule, pictures):
    """Table 3: processes whose rank makes them slow, and Section 5.4's assignments without delays."""
    t = paper["table_3"]
    columns = {"first process": [], "mean": [], "last process": []}
    device = paper["systems"]["B"][1] / paper["systems"]["B"][0]
    for processes, delayed, devices in ([(p, True, d) for d in (0, 1) for p in t["processes"]]
                                        + [(p, False, 0) for p in t["without"]]):
        n, key = t["tasks"], "%d processes%s" % (processes, " and the GPU" * devices)
        total = t["trials_per_s"] * n / t["trials"]
        speed = [total / processes] * processes + [total * device] * devices
        launch = [r / 2 if delayed else t["request_s"] for r in range(processes)] + [t["request_s"]] * devices
        case = {"name": "ranks", "tasks": {"cost": [1.0] * n}, "steps": 1,
                "units": [{"kind": "cpu", "count": 1, "speed": s, "launch_s": x} for s, x in zip(speed, launch)]}
        o = {"b": t["b"], "c": t["c"], "s": t["s"], "t_min": paper["t_min"], "average": False}
        units = simulate(case, {"hrdls": hrdls_spec(o)})["hrdls"]["units"]
        ends, counts = hrdls(range(n + 1), speed, launch, o)
        if not delayed:
            batches = [round((busy - k / s) / x) for busy, k, s, x in zip(units["busy_s"], units["tasks"], speed, launch)]
            ours["assignments " + key], rule["assignments " + key] = spread(batches), spread(counts)
            continue
        for table, end in ((ours, units["end_s"]), (rule, ends)):
            table["ends " + key] = spread(end)
            table["average " + key] = statistics.mean(end)
            table["deviation " + key] = 100 * statistics.pstdev(end) / statistics.mean(end)
        if devices:
            continue
        for name, value in zip(columns, (min(units["end_s"]), ours["average " + key], max(units["end_s"]))):
            columns[name].append(value)
    pictures["Table 3"] = [bars("End of the last batch", ["%d x %d" % (p, 48 // p) for p in t["processes"]], columns,
                                "processes x threads", "s")]


def okada_mogi(paper, ours, rule, bound, pictures):
    okada_single(paper, ours, rule, pictures)
    okada_systems(paper, ours, rule, pictures)
    okada_cluster(paper, ours, rule, pictures)
    okada_balance(paper, ours, rule, pictures)
