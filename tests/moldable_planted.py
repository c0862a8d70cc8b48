#!/usr/bin/env python3
"""moldable_planted.py CU_RUN JOB SEED CASES – plans of large jobs with dependencies against optima that are
known: a full schedule of all cores is cut into tasks that speed up linearly to their width in it, and tasks
depend only on such as end before they start there (tests/e2e/cu_run_optimum.sh)."""
import json
import math
import random
import subprocess
import sys

NODES, CORES, TASKS, MAKESPAN = 100, 32, 1000, 1000


def cut(rng, begin, end, parts):
    inner = sorted(rng.random() for _ in range(parts - 1))
    return [begin + (end - begin) * x for x in [0] + inner + [1]]


def blocks(rng):
    """Nodes, begin and end of one kind of task each: layers over all nodes, or lanes of their own lengths."""
    edges = [0] + sorted(rng.sample(range(1, NODES), rng.randint(2, 12))) + [NODES]
    common = cut(rng, 0, MAKESPAN, rng.randint(3, 10)) if rng.random() < .5 else None
    for left, right in zip(edges, edges[1:]):
        times = common or cut(rng, 0, MAKESPAN, rng.randint(1, 8))
        for begin, end in zip(times, times[1:]):
            yield right - left, begin, end


def draw(rng):
    tasks, ends = [], []
    for nodes, begin, end in sorted(blocks(rng), key=lambda b: b[1:]):
        rows = rng.randint(1, 3)
        per_node = TASKS * (end - begin) / MAKESPAN / NODES / rows
        width = min((w for w in (1, 2, 4, 8, 16, 32)), key=lambda w: abs(math.log(CORES / w / max(1, per_node))))
        before = [i for i, e in enumerate(ends) if e <= begin]
        tasks.append({'name': 't%d' % len(ends), 'command': 'true', 'count': nodes * (CORES // width) * rows,
                      'time': [width * (end - begin) / rows / p for p in range(1, width + 1)], 'most_cores': width,
                      'after': ['t%d' % i for i in rng.sample(before, min(len(before), rng.choice([0, 1, 2, 9])))]})
        ends.append(end)
    return tasks


def main():
    cu_run, path, first, cases = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    ratios = []
    for seed in range(first, first + cases):
        with open(path, 'w') as f:
            json.dump({'nodes': [{'name': 'n%d' % i, 'cores': CORES} for i in range(NODES)], 'oversubscribe': True,
                       'tasks': draw(random.Random(seed))}, f)
        plan = json.loads(subprocess.run([cu_run, 'plan', path, '--method', 'evenkeel', '--json', '-'],
                                         capture_output=True, check=True).stdout)
        ratios.append((plan['methods'][0]['makespan_s'] / MAKESPAN, seed))
        if plan['lower_bound_s'] > MAKESPAN * (1 + 1e-9):
            print('FAILED: seed %d: bound %r above the optimum' % (seed, plan['lower_bound_s']))
            return 1
    mean = sum(r for r, _ in ratios) / cases
    print('%d planted schedules: %.4f of the optimum, worst %.4f (seed %d)' % ((cases, mean) + max(ratios)))
    return mean > 1.02 or max(ratios)[0] > 1.08


sys.exit(main())
