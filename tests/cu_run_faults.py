#!/usr/bin/env python3
"""cu_run_faults.py CU_RUN FOLDER SEED CASES – draws jobs for cu-run with tasks that fail in all ways, ends
their runs at drawn moments, damages what a crash can damage, and resumes them until nothing is left to do.

The tasks judge themselves: each locks one file per core, GPU and unit of memory that it has, and writes its
start and end to a log. The rules of the log, of exit codes and of final states are stated here once more."""
import fcntl
import os
import signal
import sys
import time

ALWAYS = 10**9


# ---- a task ----------------------------------------------------------------------------------------------
def log(*words):
    line = ' '.join(map(str, words)) + '\n'
    fd = os.open('log', os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, line.encode())
    os.close(fd)


def lock(path, how):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.set_inheritable(fd, True)
    try:
        fcntl.flock(fd, how)
        return True
    except BlockingIOError:
        os.close(fd)
        return False


def claim(what, total, wanted):
    """Locks as many files as are wanted until the last process of the task has ended."""
    door = os.open('door', os.O_RDWR | os.O_CREAT)
    fcntl.flock(door, fcntl.LOCK_EX)
    got = 0
    for i in range(total):
        got += got < wanted and lock('held/%s.%d' % (what, i), fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(door)
    return got == wanted


def misbehave(mode):
    if mode == 'late':
        time.sleep(60)
    elif mode.startswith('signal'):
        number = int(mode.split()[1])
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)  # stubborn or not
        os.kill(os.getpid(), number)
        time.sleep(60)
    sys.exit(int(mode.split()[1]) if mode.startswith('exit') else 0)  # missing: without its output


def task(number, hosts, node, swept):
    spec = eval(open('spec').read())
    me, nodes = spec['tasks'][int(number)], spec['nodes']
    parts = [h.split(':') for h in hosts.split(',')] if me['cluster'] else [(node, hosts.split(':')[1])]
    log('start', number)
    good = lock('held/task.' + number, fcntl.LOCK_EX | fcntl.LOCK_NB) and swept == me['swept']
    for name, cores in parts:
        n = nodes[name]
        good = good and claim(name + '.core', n['cores'], int(cores))
        good = good and (not n['memory'] or claim(name + '.memory', n['memory'], me['memory']))
    gpus = [g for g in os.environ.get('CUDA_VISIBLE_DEVICES', '').split(',') if g and me['gpus']]
    good = good and len(gpus) == me['gpus'] and all(
        lock('held/%s.gpu.%s' % (node, g), fcntl.LOCK_EX | fcntl.LOCK_NB) for g in gpus)
    if not good:
        log('clash', number, hosts, swept, *gpus)
    if me['leaves']:
        os.posix_spawnp('sleep', ['sleep', '60'], os.environ)
    if me['stubborn']:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(me['seconds'])
    failures = 'failed.' + number
    if (os.path.getsize(failures) if os.path.exists(failures) else 0) < me['failures']:
        with open(failures, 'a') as f:
            f.write('x')
        misbehave(me['mode'])
    open('made.' + number, 'w').close()
    log('end', number)


if sys.argv[1] == 'task':
    sys.exit(task(*sys.argv[2:]))

import concurrent.futures
import contextlib
import json
import random
import shutil
import subprocess

CODES = {'exit 3': 3, 'exit 255': 255, 'signal 9': 137, 'signal 11': 139, 'signal 15': 143, 'missing': 1, 'late': 124}
# What may happen to a run, and how it may end then beside the usual ways.
EXITS = {'master KILL': [-9], 'master INT': [4], 'master TERM': [4], 'master INT INT': [4], 'master INT KILL': [4, -9],
         'master STOP CONT': [], 'agent KILL': [3], 'agent STOP CONT': [], 'short allocation': [4]}
SSH = '#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\nshift 2\nexec sh -c "$*"\n'


# ---- a job -----------------------------------------------------------------------------------------------
class Job:
    def __init__(self, rng):
        self.far, self.retries = rng.random() < .5, rng.choice([0, 1, 2])
        self.nodes = [{'name': 'n%d' % i, 'cores': rng.randint(1, 4), 'gpus': rng.choice([0, 1, 1, 2]),
                       'memory': rng.choice([0, 10, 10]), 'factor': rng.choice([1, 1, 1.5])}
                      for i in range(rng.randint(1, 3))]
        self.kinds, self.tasks, self.kind = [], [], []
        for k in range(rng.randint(1, 6)):
            self.add_kind(rng, k)

    def add_kind(self, rng, k):
        host = rng.choice(self.nodes)
        sweep = ['a', 'b c', "d'e"][:rng.choice([0, 0, 2, 3])]
        cluster = self.far and rng.random() < .15
        kind = {'name': 'k%d' % k, 'count': rng.randint(1, 4), 'time': '%.2f/p+%.2f' % (rng.random() / 4, rng.random() / 9 + .01),
                'outputs': ['made.{id}'], 'walltime': 20, 'cluster': cluster}
        kind['least_cores'] = 0 if cluster else rng.choice([0, 0, rng.randint(1, host['cores'])])
        kind['gpus'] = 0 if cluster else rng.randint(0, host['gpus'])
        kind['memory'] = 0 if cluster else rng.choice([0, 4, 6, rng.randint(1, host['memory'])]) if host['memory'] else 0
        kind['after'] = sorted({'k%d' % rng.randrange(k) for _ in range(rng.choice([0, 1, 1, 2]))}) if k else []
        kind['sweep'] = {'x': sweep} if sweep else {}
        fails = rng.random() < .4
        for i in range(kind['count'] * max(1, len(sweep))):
            mode = rng.choice(list(CODES)[:rng.choice([6, 6, 7])])
            if mode == 'late':
                kind['walltime'] = 3
            self.kind.append(k)
            self.tasks.append({'cluster': cluster, 'gpus': kind['gpus'], 'memory': kind['memory'], 'mode': mode,
                               'failures': rng.choice([1, 1, 2, 3, ALWAYS]) if fails and rng.random() < .4 else 0,
                               'swept': sweep[i % len(sweep)] if sweep else '', 'seconds': rng.choice([.02, .1, .3]),
                               'leaves': rng.random() < .2, 'stubborn': rng.random() < .03})
        self.kinds.append(kind)

    def after(self, k):
        return [int(a[1:]) for a in self.kinds[k]['after']]

    def write(self, walltime):
        def command(kind):
            swept = '"{x}"' if kind['sweep'] else '""'
            return 'exec %s -IS %s task {id} {hosts} {node} %s' % (sys.executable, os.path.abspath(__file__), swept)
        nodes = [dict(n, host=n['name']) if self.far else n for n in self.nodes]
        kinds = [dict(kind, command=command(kind)) for kind in self.kinds]
        with open('job.json', 'w') as f:
            json.dump({'nodes': nodes, 'oversubscribe': True, 'retries': self.retries, 'walltime': walltime,
                       'tasks': kinds}, f)
        with open('spec', 'w') as f:
            f.write(repr({'nodes': {n['name']: n for n in self.nodes}, 'tasks': self.tasks}))


# ---- its runs --------------------------------------------------------------------------------------------
def lines(path):
    try:
        with open(path, 'rb') as f:
            return [x for x in f.read().split(b'\n') if x]
    except FileNotFoundError:
        return []


def children(pid):
    with contextlib.suppress(FileNotFoundError), open('/proc/%d/task/%d/children' % (pid, pid)) as f:
        return [int(x) for x in f.read().split()]
    return []


class Case:
    def __init__(self, cu_run, seed):
        self.rng, self.cu_run = random.Random(seed), cu_run
        self.job = Job(self.rng)
        self.wrong, self.damaged, self.runs, self.said = [], set(), [], ''

    def check(self, good, *what):
        if not good:
            self.wrong.append('run %d (%s): %s' % (len(self.runs), self.runs[-1], ' '.join(map(str, what))))

    def journal(self):
        """Task and status of each line that nobody damaged."""
        good = [json.loads(x) for x in lines('job.json.results/journal')[1:] if x not in self.damaged]
        return [(x['task'], x['status']) for x in good]

    def proven(self):
        return {t for t, status in dict(self.journal()).items() if not status and os.path.exists('made.%d' % t)}

    def moment(self, run, before):
        """Waits until a drawn number of tasks has started."""
        starts, pause = self.rng.randint(0, len(self.job.tasks)), self.rng.choice([0, 0, .01, .05, .2])
        while run.poll() is None and sum(x.startswith(b'start') for x in lines('log')[before:]) < starts:
            time.sleep(.005)
        time.sleep(pause)

    def disturb(self, run, fault):
        who, *names = fault.split()
        if run.poll() is not None:
            return
        pids = [run.pid] if who == 'master' else children(run.pid)
        if who == 'agent' and self.job.far:  # below ssh
            pids = [agent for ssh in pids for agent in children(ssh)]
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(self.rng.choice(pids)) if pids else -1
            for name in names if pids else []:
                signal.pidfd_send_signal(fd, getattr(signal, 'SIG' + name))
                time.sleep(2 if name == 'STOP' else self.rng.choice([0, 0, .01, .1]))

    def run(self, fault):
        before, proven, noted = len(lines('log')), self.proven(), len(self.journal())
        self.job.write(1.5 if fault.startswith('short') else 0)
        words = [self.cu_run, 'run', 'job.json', '--quiet', '--json', 'run.json'] + ['--resume'] * bool(self.runs)
        self.runs.append(fault)
        with open('said', 'w') as said:
            run = subprocess.Popen(words, stdout=said, stderr=said)
            if fault and not fault.startswith('short'):
                self.moment(run, before)
                self.disturb(run, fault)
            run.wait()
        self.said = open('said').read()
        events = [x.decode().split(' ') for x in lines('log')[before:]]
        self.check(not any(e[0] == 'clash' for e in events), [e for e in events if e[0] == 'clash'])
        again = {int(e[1]) for e in events if e[0] == 'start'} & proven
        self.check(not again, 'finished tasks run again:', again)
        for t, status in self.journal()[noted:]:
            good = b'end %d' % t in lines('log') if status == 0 else status in (-1, CODES[self.job.tasks[t]['mode']])
            self.check(good, 'the journal notes', status, 'for task', t)
        bad = sum(x in self.damaged for x in lines('job.json.results/journal'))
        self.check(not bad or run.returncode not in (0, 1) or 'changed: %d,' % bad in self.said, bad, 'damaged lines:', self.said)
        return run.returncode, events

    # ---- between runs ----
    def forget(self, proven):
        for t in proven - self.proven():
            log('gone', t)

    def damage(self):
        path, proven = 'job.json.results/journal', self.proven()
        old = lines(path)
        if len(old) < 2:
            return
        how, line = self.rng.choice(['torn', 'zeros', 'flip']), old[-1]
        if how == 'flip':
            line = self.rng.choice(old[1:])
            if b'"status":-1' in line:
                return
            at = self.rng.randrange(len(line))
            made = line[:at] + (b'7' if line[at:at + 1] != b'7' else b'8') + line[at + 1:]
        elif how == 'torn':
            made = line[:self.rng.randrange(len(line) + 1)]
        else:
            cut = self.rng.randrange(len(line))
            made = line[:cut] + b'\0' * (len(line) - cut)
        if made != line:
            self.damaged.add(made)
        last = line == old[-1]
        with open(path, 'wb') as f:
            f.write(b''.join((made if x == line else x) + b'\n' for x in old[:-1]))
            f.write((made if last else old[-1]) + b'\n' * (not last))
        self.forget(proven)

    def lose_outputs(self):
        proven = self.proven()
        for t in self.rng.sample(sorted(proven), min(len(proven), self.rng.randint(1, 3))):
            os.remove('made.%d' % t)
        self.forget(proven)

    # ---- rules ----
    def expect(self):
        """State, attempts and exit code of each task after an undisturbed run from here on."""
        job, proven, failed, expected = self.job, self.proven(), set(), []
        for t, (k, x) in enumerate(zip(job.kind, job.tasks)):
            path = 'failed.%d' % t
            left = max(0, x['failures'] - (os.path.getsize(path) if os.path.exists(path) else 0))
            if t in proven:
                expected.append(('done', None, 0))
            elif failed & set(job.after(k)):
                expected.append(('skipped', 0, None))
            elif left > job.retries:
                expected.append(('failed', job.retries + 1, CODES[x['mode']]))
            else:
                expected.append(('done', left + 1, 0))
            if expected[-1][0] != 'done':
                failed.add(k)
        return expected

    def check_order(self):
        done = set()
        for e in lines('log'):
            what, t = e.decode().split(' ')[0], int(e.decode().split(' ')[1])
            if what == 'end':
                done.add(t)
                continue
            done.discard(t)
            needed = {i for i, k in enumerate(self.job.kind) if k in self.job.after(self.job.kind[t])}
            self.check(what != 'start' or needed <= done, 'task', t, 'starts before', needed - done)

    def finish(self):
        expected = self.expect()
        code, events = self.run('')
        self.check(code == any(x[0] == 'failed' for x in expected), 'exits', code, ':', self.said)
        if code in (0, 1):
            schedule = json.load(open('run.json'))['schedule']
            for t, (x, s) in enumerate(zip(expected, schedule)):
                starts = sum(e[:2] == ['start', str(t)] for e in events)
                state = s['state'], None if s['finished_before'] else s['attempts'], s['exit']
                self.check(state == x and starts == (x[1] or 0), 'task', t, 'is', state, 'not', x, 'starts:', starts)
        self.check_order()
        self.check(all(lock('held/' + f, fcntl.LOCK_EX | fcntl.LOCK_NB) for f in os.listdir('held')), 'processes are left')
        self.check(not events or not os.listdir('tmp'), 'files are left:', os.listdir('tmp'))

    def judge(self):
        for fault in self.rng.choices(list(EXITS), k=self.rng.randint(0, 4)):
            code, events = self.run(fault)
            ends = [0, 1] + EXITS[fault] + [-2, -15] * (not events)  # before it listens
            self.check(code in ends, 'exits', code, ':', self.said)
            if code not in (0, 1) or self.rng.random() < .3:
                if self.rng.random() < .5:
                    self.damage()
                if self.rng.random() < .3:
                    self.lose_outputs()
        self.finish()
        return self.wrong


def judge(cu_run, folder, seed):
    folder = os.path.join(folder, str(seed))
    os.makedirs(folder + '/held')
    os.chdir(folder)
    os.mkdir('tmp')
    with open('ssh', 'w') as f:
        f.write(SSH)
    os.chmod('ssh', 0o755)
    os.environ.update(TMPDIR=folder + '/tmp', PATH=folder + ':' + os.environ['PATH'])
    case = Case(cu_run, seed)
    wrong = case.judge()
    if not wrong:
        shutil.rmtree(folder)
    return ['FAILED: seed %d: %s' % (seed, w) for w in wrong], case.runs


def main():
    cu_run, folder, first, cases = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        todo = [pool.submit(judge, cu_run, folder, seed) for seed in range(first, first + cases)]
        done = [t.result() for t in todo]
    wrong = [w for case, _ in done for w in case]
    print(*wrong, sep='\n')
    print('%d jobs, %d runs, %d faults found' % (cases, sum(len(runs) for _, runs in done), len(wrong)))
    return bool(wrong)


sys.exit(main())
