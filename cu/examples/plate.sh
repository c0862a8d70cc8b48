#!/bin/sh
# cu/examples/plate.sh NAME ROUND RINGS LAYERS – CalculiX input NAME.inp of a clamped square plate
# with a round hole and a load on the ring around it: ROUND x RINGS x LAYERS bricks, mm, N, MPa.
set -eu
[ $# = 4 ] || { echo "usage: plate.sh NAME ROUND RINGS LAYERS" >&2; exit 2; }
awk -v round="$2" -v rings="$3" -v layers="$4" '
function node(i, j, k) { return 1 + (i % round) + round * (j + (rings + 1) * k) }
BEGIN {
    pi = atan2(0, -1); hole = 10; half = 50; thick = 4
    print "*NODE, NSET=ALL"
    for (k = 0; k <= layers; k++)
        for (j = 0; j <= rings; j++)
            for (i = 0; i < round; i++) {
                # along each ray from the hole to the edge of the square
                a = 2 * pi * i / round; c = cos(a); s = sin(a)
                m = c * c > s * s ? sqrt(c * c) : sqrt(s * s)
                r = hole + (half / m - hole) * (j / rings) ^ 1.5
                printf "%d, %.6f, %.6f, %.6f\n", node(i, j, k), r * c, r * s, thick * k / layers
                if (j == rings && c * c >= s * s) clamped[++n] = node(i, j, k)
            }
    print "*ELEMENT, TYPE=C3D8I, ELSET=PLATE"
    for (k = 0; k < layers; k++)
        for (j = 0; j < rings; j++)
            for (i = 0; i < round; i++) {
                e++
                printf "%d, %d, %d, %d, %d, %d, %d, %d, %d\n", e, node(i, j, k), node(i, j + 1, k), node(i + 1, j + 1, k), node(i + 1, j, k), node(i, j, k + 1), node(i, j + 1, k + 1), node(i + 1, j + 1, k + 1), node(i + 1, j, k + 1)
                if (k == layers - 1 && j < rings / 3) loaded[++l] = e
            }
    print "*NSET, NSET=CLAMPED"
    for (i = 1; i <= n; i++) print clamped[i] ","
    print "*MATERIAL, NAME=PLASTIC\n*ELASTIC\n5000., 0.35\n*SOLID SECTION, ELSET=PLATE, MATERIAL=PLASTIC"
    print "*BOUNDARY\nCLAMPED, 1, 3\n*STEP\n*STATIC\n*DLOAD"
    for (i = 1; i <= l; i++) print loaded[i] ", P2, 0.01"
    print "*NODE PRINT, NSET=CLAMPED, TOTALS=ONLY\nRF\n*END STEP"
}' >"$1.inp"
