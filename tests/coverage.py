# tests/coverage.py FOLDER – which lines the tests have reached, of a build with --coverage in FOLDER:
# files with the most lines that nobody reached, functions never called, and each part's share. A line
# counts once, whatever number of objects (instruction levels, headers) it is compiled into. Fails
# below 85 %. Needs gcc's gcov alone: gcovr stops where one inline function stands in two objects.
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys


def read(name):
    said = subprocess.run(["gcov", "-t", "--json-format", name], capture_output=True).stdout
    return json.loads(said)["files"] if said else []


folder = os.path.normpath(sys.argv[1])
objects = [o for o in glob.glob(folder + "/**/*.gcno", recursive=True)
            if not o.startswith((folder + "/tests/", folder + "/bench/"))]
lines, functions = {}, {}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for file in (f for files in pool.map(read, objects) for f in files):
        name = os.path.normpath(file["file"])
        if name.startswith(("/", "..", "tests/", "build")):
            continue
        for line in file["lines"]:
            key = name, line["line_number"]
            lines[key] = max(lines.get(key, 0), line["count"])
        for f in file["functions"]:
            key = name, f["name"]
            calls = max(functions.get(key, [0])[0], f["execution_count"])
            functions[key] = calls, f["end_line"] - f["start_line"] + 1
if not lines:
    sys.exit("coverage.py: no object in " + folder + " was built with --coverage")

left, parts = collections.Counter(), collections.defaultdict(list)
for (name, _), count in lines.items():
    left[name] += not count
    for part in name.split("/")[0], "all":
        parts[part].append(count > 0)
print("lines not reached")
for name, n in left.most_common(20):
    print("%6d  %s" % (n, name))
print("lines of functions never called")
for n, name, f in sorted(((v[1], *k) for k, v in functions.items() if not v[0]), reverse=True)[:20]:
    print("%6d  %s %s" % (n, name, f))
for part in sorted(parts, key=lambda p: (p == "all", p)):
    reached = parts[part]
    print("%-12s %6d of %6d lines, %.1f %%" % (part, sum(reached), len(reached), 100 * sum(reached) / len(reached)))
sys.exit(sum(parts["all"]) < 0.85 * len(parts["all"]))
