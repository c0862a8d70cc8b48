#!/usr/bin/env python3
"""moldable_planted.py CU_RUN JOB SEED CASES – plans of large jobs with dependencies against optima that are
known: a full schedule of all cores is cut into tasks that take the same work on all widths up to theirs in it,
interference included, and tasks depend only on such as end before they start there. So the bound must be the
optimum. Every third job has unlike nodes, every second one interference (tests/e2e/cu_run_optimum.sh)."""
import json
import math
import random
import subprocess
import sys

NODES, CORES, TASKS, MAKESPAN = 100, 32, 1000, 1000


def cut(rng, begin, end, parts):
    inner = sorted(rng.random() for _ in range(parts - 1))
    return [begin + (end - begin) * x for x in [0] + inner + [1]]


def blocks(rng, unlike):
    """Nodes, their speed, begin and end of one kind of task each: layers over all nodes, or lanes of their own
    lengths."""
    edges = [0] + sorted(rng.sample(range(1, NODES), rng.randint(2, 12))) + [NODES]
    common = cut(rng, 0, MAKESPAN, rng.randint(3, 10)) if rng.random() < .5 else None
    for left, right in zip(edges, edges[1:]):
        speed = rng.uniform(.5, 2) if unlike else 1
        times = common or cut(rng, 0, MAKESPAN, rng.randint(1, 8))
        for begin, end in zip(times, times[1:]):
            yield range(left, right), speed, begin, end


def slowdown(interference, width):
    return 1 + interference * (CORES - width) / (CORES - 1)


def draw(rng, unlike, interferes):
    tasks, ends, factors = [], [], [1] * NODES
    for nodes, speed, begin, end in sorted(blocks(rng, unlike), key=lambda b: b[2:]):
        factors[nodes.start:nodes.stop] = [speed] * len(nodes)
        interference = rng.choice([.2, .5, 1]) if interferes else 0
        rows = rng.randint(1, 3)
        per_node = TASKS * (end - begin) / MAKESPAN / NODES / rows
        width = min((w for w in (1, 2, 4, 8, 16, 32)), key=lambda w: abs(math.log(CORES / w / max(1, per_node))))
        before = [i for i, e in enumerate(ends) if e <= begin]
        tasks.append({'name': 't%d' % len(ends), 'command': 'true', 'count': len(nodes) * (CORES // width) * rows,
                      'time': [width * speed * (end - begin) / rows / p / slowdown(interference, p)
                               for p in range(1, width + 1)], 'most_cores': width, 'interference': interference,
                      'after': ['t%d' % i for i in rng.sample(before, min(len(before), rng.choice([0, 1, 2, 9])))]})
        ends.append(end)
    return {'nodes': [{'name': 'n%d' % i, 'cores': CORES, 'factor': f} for i, f in enumerate(factors)],
            'oversubscribe': True, 'tasks': tasks}


def main():
    cu_run, path, first, cases = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    ratios = [], []
    for seed in range(first, first + cases):
        with open(path, 'w') as f:
            json.dump(draw(random.Random(seed), seed % 3 == 0, seed % 2 == 0), f)
        plan = json.loads(subprocess.run([cu_run, 'plan', path, '--method', 'evenkeel', '--json', '-'],
                                         capture_output=True, check=True).stdout)
        ratios[seed % 3 == 0].append((plan['methods'][0]['makespan_s'] / MAKESPAN, seed))
        if abs(plan['lower_bound_s'] / MAKESPAN - 1) > 1e-4:
            print('FAILED: seed %d: the bound of %d s is %r' % (seed, MAKESPAN, plan['lower_bound_s']))
            return 1
    wrong = False
    for name, found, mean, most in ('equal', ratios[0], 1.03, 1.1), ('unlike', ratios[1], 1.2, 1.5):
        ratio = sum(r for r, _ in found) / max(1, len(found))
        print('%d planted schedules of %s nodes: %.4f of the optimum, worst %.4f (seed %d)' %
              ((len(found), name, ratio) + max(found, default=(0, 0))))
        wrong |= ratio > mean or max(found, default=(0, 0))[0] > most
    return wrong


sys.exit(main())
