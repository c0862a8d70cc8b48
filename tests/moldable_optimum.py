#!/usr/bin/env python3
"""moldable_optimum.py CU_RUN JOB SEED CASES – draws small jobs, checks the plans of all methods, and
compares evenkeel's makespan with the shortest of all semi-active schedules (tests/e2e/cu_run_optimum.sh)."""
import json
import math
import random
import subprocess
import sys

CLOSE, MOST_STEPS = 1e-9, 4e5


def draw_law(rng):
    def x(low, high, digits=3):
        return round(rng.uniform(low, high), digits)
    kind = rng.randrange(5)
    if kind == 0:
        a, b, c = x(1, 100), x(.1, 1, 2), x(0, 10)
        return '%g/p^%g+%g' % (a, b, c), lambda p: a / p**b + c
    if kind == 1:
        a = x(1, 100)
        return '%g/p' % a, lambda p: a / p
    if kind == 2:
        a = x(.1, 50)
        return '%g' % a, lambda p: a
    if kind == 3:
        a, e = x(1, 50), x(.01, 3)
        return '%g/p+%g*p' % (a, e), lambda p: a / p + e * p
    table = sorted((x(1, 50) for _ in range(rng.randint(1, 4))), reverse=True)
    return table, lambda p: table[p - 1] if p <= len(table) else math.inf


def draw(rng):
    family = rng.choice(['plain', 'after', 'gpus', 'memory', 'width', 'mixed'])
    cores = [5]
    while sum(cores) > 4:
        cores = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    nodes = [{'name': 'n%d' % i, 'cores': c, 'factor': rng.choice([1, round(rng.uniform(.3, 3), 3)])}
             for i, c in enumerate(cores)]
    for n in nodes:
        if family in ('gpus', 'mixed'):
            n['gpus'] = rng.randint(0, 2)
        if family in ('memory', 'mixed'):
            n['memory'] = rng.choice([0, 8, 10, 12])
    tasks, laws, left = [], [], rng.randint(1, 6 if family == 'plain' else 5)
    while left:
        count = min(left, rng.choice([1, 1, 1, 2, 3]))
        text, law = draw_law(rng)
        t = {'name': 't%d' % len(tasks), 'count': count, 'command': 'true', 'time': text}
        left -= count
        if family in ('width', 'mixed') and rng.random() < .4:
            t['least_cores'] = rng.randint(0, max(cores))
            t['most_cores'] = rng.choice([0, max(t['least_cores'], rng.randint(1, 4))])
        if family in ('gpus', 'mixed') and rng.random() < .5:
            t['gpus'] = rng.randint(0, 2)
        if family in ('memory', 'mixed') and rng.random() < .6:
            t['memory'] = rng.choice([1, 3, 4, 5, 6, 10])
        if family in ('after', 'mixed') and tasks and rng.random() < .6:
            t['after'] = sorted({'t%d' % rng.randrange(len(tasks)) for _ in range(rng.randint(1, 2))})
        tasks.append(t)
        laws.append(law)
    return nodes, tasks, laws


def memory_of(task, node):
    return task.get('memory', 0) if node.get('memory') else 0


class Job:
    def __init__(self, rng):
        self.nodes, self.tasks, self.laws = draw(rng)
        self.after = [[int(a[1:]) for a in t.get('after', [])] for t in self.tasks]
        self.kind = [k for k, t in enumerate(self.tasks) for _ in range(t['count'])]
        self.widths = [[self.usable(k, n) for n in self.nodes] for k in range(len(self.tasks))]
        self.feasible = all(any(w) for w in self.widths)

    def usable(self, k, n):
        t = self.tasks[k]
        most = t.get('most_cores', 0) or n['cores']
        if t.get('gpus', 0) > n.get('gpus', 0) or memory_of(t, n) > n.get('memory', 0):
            return []
        return [w for w in range(max(1, t.get('least_cores', 0)), min(most, n['cores']) + 1)
                if self.laws[k](w) < math.inf]

    def seconds(self, k, j, w):
        return self.laws[k](w) / self.nodes[j]['factor']

    def optimum(self, best):
        """The shortest semi-active schedule below `best`; None: too many of them."""
        kinds = range(len(self.tasks))
        left, done = [t['count'] for t in self.tasks], [0] * len(self.tasks)
        free = [[0] * n['cores'] for n in self.nodes]
        quickest = [min(self.seconds(k, j, w) for j in range(len(free)) for w in self.widths[k][j]) for k in kinds]
        running, steps = [], 0

        def start(k, j, w, since):
            n, t = self.nodes[j], self.tasks[k]
            s = max([since, free[j][w - 1]] + [done[a] for a in self.after[k]])
            while True:
                beside = [r for r in running if r[0] == j and r[1] > s + 1e-12]
                if (sum(r[2] for r in beside) + t.get('gpus', 0) <= n.get('gpus', 0) and
                        (not n.get('memory') or sum(r[3] for r in beside) + memory_of(t, n) <= n['memory'])):
                    return s
                s = min(r[1] for r in beside)

        def descend(since, end):
            nonlocal best, steps
            steps += 1
            if steps > MOST_STEPS or max([end] + [since + quickest[k] for k in kinds if left[k]]) >= best:
                return
            if not any(left):
                best = end
                return
            for k in kinds:
                if not left[k] or any(left[a] for a in self.after[k]):
                    continue
                for j, w in ((j, w) for j in range(len(free)) for w in self.widths[k][j]):
                    s = start(k, j, w, since)
                    e = s + self.seconds(k, j, w)
                    kept = free[j], done[k]
                    left[k] -= 1
                    done[k] = max(done[k], e)
                    free[j] = sorted(free[j][w:] + [e] * w)
                    running.append((j, e, self.tasks[k].get('gpus', 0), memory_of(self.tasks[k], self.nodes[j])))
                    descend(s, max(end, e))
                    running.pop()
                    free[j], done[k] = kept
                    left[k] += 1

        descend(0, 0)
        return best if steps <= MOST_STEPS else None

    def faults(self, plan, bound):
        """What is wrong with a plan."""
        tasks, number = plan['schedule'], {n['name']: j for j, n in enumerate(self.nodes)}
        wrong, cores = [], {}
        if [s['task'] for s in tasks] != list(range(len(self.kind))):
            return ['not every task once']
        ends = [max(s['finish_s'] for s in tasks if self.kind[s['task']] == k) for k in range(len(self.tasks))]
        for s in tasks:
            k, j, begin, end = self.kind[s['task']], number[s['node']], s['start_s'], s['finish_s']
            used = set(s['core'])
            if len(used) != len(s['core']) or len(used) not in self.widths[k][j] or not used <= set(range(self.nodes[j]['cores'])):
                wrong.append('the cores of %r' % s)
            if abs(end - begin - self.seconds(k, j, len(used))) > 1e-9 * end:
                wrong.append('the duration of %r' % s)
            if any(begin < ends[a] - CLOSE for a in self.after[k]) or any(begin < tasks[a]['finish_s'] - CLOSE for a in s['after']):
                wrong.append('%r starts too early' % s)
            for c in used:
                cores.setdefault((j, c), []).append((begin, end))
            beside = [self.tasks[self.kind[o['task']]] for o in tasks if o['node'] == s['node'] and
                      o['start_s'] <= begin + 1e-12 and o['finish_s'] > begin + CLOSE]
            n = self.nodes[j]
            if sum(t.get('gpus', 0) for t in beside) > n.get('gpus', 0) or sum(memory_of(t, n) for t in beside) > n.get('memory', 0):
                wrong.append('GPUs or memory beside %r' % s)
        for spans in cores.values():
            spans.sort()
            if any(a[1] > b[0] + CLOSE for a, b in zip(spans, spans[1:])):
                wrong.append('a core has two tasks at once')
        if abs(max(ends) - plan['makespan_s']) > 1e-9 * max(ends) or max(ends) < bound * (1 - CLOSE):
            wrong.append('makespan %g, bound %g, last end %g' % (plan['makespan_s'], bound, max(ends)))
        return wrong


def judge(cu_run, path, seed):
    job = Job(random.Random(seed))
    with open(path, 'w') as f:
        json.dump({'nodes': job.nodes, 'oversubscribe': True, 'tasks': job.tasks}, f)
    r = subprocess.run([cu_run, 'plan', path, '--json', '-'], capture_output=True, text=True)
    if r.returncode != (0 if job.feasible else 2):
        return ['exit %d: %s' % (r.returncode, r.stderr)], None
    if not job.feasible:
        return [], None
    plans = json.loads(r.stdout)
    wrong = [m['method'] + ': ' + w for m in plans['methods'] for w in job.faults(m, plans['lower_bound_s'])]
    ours = next(m['makespan_s'] for m in plans['methods'] if m['method'] == 'evenkeel')
    best = job.optimum(ours * (1 + 1e-12))
    if best and best < plans['lower_bound_s'] * (1 - CLOSE):
        wrong.append('bound %r above the optimum %r' % (plans['lower_bound_s'], best))
    return wrong, best and ours / best


def main():
    cu_run, path, first, cases = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    ratios, failed = [], False
    for seed in range(first, first + cases):
        wrong, ratio = judge(cu_run, path, seed)
        for w in wrong:
            failed = True
            print('FAILED: seed %d: %s' % (seed, w))
        ratios += [(ratio, seed)] if ratio else []
    ratios.sort()
    near = sum(r <= 1.02 for r, _ in ratios) / len(ratios)
    print('%d of %d jobs: %.1f %% within 1.02 of the optimum, worst %.4f (seed %d)' % ((len(ratios), cases, 100 * near) + ratios[-1]))
    return failed or near < .98


sys.exit(main())
