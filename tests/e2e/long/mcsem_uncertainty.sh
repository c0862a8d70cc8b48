#!/usr/bin/env bash
# tests/e2e/long/mcsem_uncertainty.sh – for a hundred earths drawn from an inversion's assumptions, with a
# smoothness that it is not told, 68 % of the layers lie within one standard deviation.
. tests/check.sh
skip_under_sanitizers 'inversions of many earths'
bin=${BIN:-bin}/mcsem
earths=100 least=0.63 most=0.73
nx=5 ny=3 nz=12
"$bin" --generate tiny --out "$work/survey.csv" --truth "$work/grid.csv"
check $? 'a survey'

# earth.N.csv: ln rho of precision 10 R'R, R the differences of layers, the last from 1 ohm m, and
# sqrt(0.03) times those of columns: with L L' that, L' ln rho is of unit variance.
python3 - "$work" $nx $ny $nz $earths <<'PYTHON'
import math, random, sys
work, nx, ny, nz, earths = sys.argv[1], *map(int, sys.argv[2:])
n = nx * ny * nz
matrix = [[0.0] * n for _ in range(n)]

def row(precision, *at):
    for i, a in enumerate(at):
        for j, b in enumerate(at):
            matrix[a][b] += precision if i == j else -precision

for c in range(nx * ny):
    for k in range(nz):
        here = c * nz + k
        row(10, here, *[here + 1] * (k + 1 < nz))
        if c % nx + 1 < nx:
            row(0.3, here, here + nz)
        if c // nx + 1 < ny:
            row(0.3, here, here + nx * nz)
for j in range(n):
    for i in range(j, n):
        left = matrix[i][j] - sum(a * b for a, b in zip(matrix[i][:j], matrix[j][:j]))
        matrix[i][j] = math.sqrt(left) if i == j else left / matrix[j][j]
head, *grid = open(work + '/grid.csv').read().split('\n')[:n + 1]
for earth in range(1, earths + 1):
    dice = random.Random(earth)
    m = [0.0] * n
    for i in reversed(range(n)):
        m[i] = (dice.gauss(0, 1) - sum(matrix[k][i] * m[k] for k in range(i + 1, n))) / matrix[i][i]
    with open(f'{work}/earth.{earth}.csv', 'w') as out:
        print(head, *(f'{line.rsplit(",", 1)[0]},{math.exp(x)!r}' for line, x in zip(grid, m)),
              sep='\n', file=out)
PYTHON
check $? 'earths are drawn'

awk -F, -v OFS=, 'NR > 1 { $NF = 1 } { print }' "$work/grid.csv" >"$work/reference.csv"
grid="nx=$nx,ny=$ny,nz=$nz,dx=1000,dy=1000,dz=150,seabed=1000,start=1"
for earth in $(seq $earths); do
    "$bin" "$work/survey.csv" --forward-survey --earth "$work/earth.$earth.csv" --noise 0.03 --seed $earth \
        --out "$work/data.csv" &&
        "$bin" "$work/data.csv" --earth $grid --reference "$work/reference.csv" --uncertainty --layout 1x1 \
            --model-out "$work/model.csv" >"$work/out" 2>&1
    check $? "earth $earth is inverted: $(cat "$work/out")"
    paste -d, "$work/earth.$earth.csv" "$work/model.csv" | tail -n +2 >>"$work/layers.csv"
done
awk -F, -v least=$least -v most=$most '
    { n++; off = log($12 / $6); covered += off < $13 && -off < $13 }
    END { print covered / n, "of", n; exit !(covered > least * n && covered < most * n) }' "$work/layers.csv" >"$work/share"
check $? "one standard deviation holds $(cat "$work/share")"
exit $failed
