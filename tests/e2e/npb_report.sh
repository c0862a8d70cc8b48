# tests/e2e/npb_report.sh – scripts that parse the official suite's output work on ours; its input
# file and timer flag are honoured; the JSON also has the norms and their references.
. tests/check.sh
bin=$(cd "$BIN" && pwd)
cd "$work" || exit 1

# As such scripts do: the value after a label, by column, awk or regular expression.
field() { grep "$1" out | cut -d= -f2 | tr -d ' '; }
for program in bt-mz sp-mz lu-mz; do
    name=$(echo $program | tr a-z A-Z)
    "$bin/$program" --class S --layout 2x1 >out || say "$program: exit $?"
    grep -qE "^ $name Benchmark Completed\.$" out || say "$program: no result block"
    [ "$(field ' Class  ')" = S ] || say "$program: class $(field ' Class  ')"
    grep -qE '^ Size +=  *24x +24x +6$' out || say "$program: $(grep Size out)"
    [ "$(awk '/^ Iterations +=/ { print $3 }' out)" -ge 50 ] || say "$program: iterations"
    [ "$(awk '/Total threads/ { print $4 }' out)" = 2 ] || say "$program: threads"
    [ "$(awk '/Total processes/ { print $4 }' out)" = 1 ] || say "$program: processes"
    grep -qE '^ Time in seconds = +[0-9]+\.[0-9]{2}$' out || say "$program: time"
    grep -qE '^ Mop/s total +=  *[0-9]+\.[0-9]{2}$' out || say "$program: Mop/s"
    grep -qE '^ Mop/s/thread +=  *[0-9]+\.[0-9]{2}$' out || say "$program: Mop/s/thread"
    grep -qE '^ Operation type +=  *floating point$' out || say "$program: operation type"
    grep -qE '^ Verification +=  *SUCCESSFUL$' out || say "$program: verification"
    grep -qE '^ (Version|Compile date) +=' out || say "$program: version, date"
    grep -q ' Verification Successful' out || say "$program: verification of norms"
    # Label, value, reference, deviation: ten norms, with LU the surface integral, within 1e-8.
    awk -v n="$program" '/Comparison of/ { on = 1; next } / Verification / { on = 0 }
        on { line++; if (NF < 3 || $NF + 0 > 1e-8) wrong = 1
             d = $(NF - 2) / $(NF - 1) - 1; if (d > 1e-8 || d < -1e-8) wrong = 1 }
        END { exit wrong || line != (n == "lu-mz" ? 11 : 10) }' out || say "$program: $(grep -A14 Comparison out)"
done

# The result block of a resumed run counts its own steps only.
"$bin/bt-mz" --class S --layout 1x1 --checkpoint state --every 40 --json /dev/full >out 2>&1
"$bin/bt-mz" --class S --layout 1x1 --checkpoint state >out
[ "$(field ' Iterations  ') $(field 'Resumed at step')" = '20 40' ] || say "resumed: $(cat out)"

# A comparison prints the block only with --npb.
"$bin/bt-mz" --class S --compare static,dynamic >out
grep -q Completed out && say 'a comparison prints a result block'
"$bin/bt-mz" --class S --compare static,dynamic --npb >out
[ "$(grep -c Completed out)" = 1 ] || say '--npb: no result block'
grep -q SECTION out && say 'times of sections, though not requested'

# The suite's input file. Its numbers of steps and time steps have no reference.
printf '7   number of time steps\n0.005d0  dt\n1 timers\n' >inputbt-mz.data
"$bin/bt-mz" --class S --json json >out || say "input file: exit $?"
[ "$(field ' Iterations  ')" = 7 ] && grep -q 'dt:   0.005000' out || say "input file: $(cat out)"
grep -qE '^ Verification +=  *NOT PERFORMED$' out && grep -q '"verified": null' json || say "input file: verified"
grep -qE '^  total   : +[0-9.]+  \(100.00%\)$' out || say "no times of sections: $(tail -5 out)"
[ "$("$bin/bt-mz" --class S --steps 3 | awk '/^ Iterations +=/ { print $3 }')" = 3 ] || say '--steps does not override the file'
printf '0\n0.0\n0\n' >inputbt-mz.data
"$bin/bt-mz" --class S | grep -q 'Verification .*= .* SUCCESSFUL' || say 'zeros do not mean the values of the class'
# List-directed input of Fortran: blank lines are skipped, a comma or a slash ends a number.
for text in '\n \n7, steps\n\n5d-3/ dt' "7 $(printf '%600s' 5)\r\n.005,9\r"; do
    printf "$text\n" >inputbt-mz.data
    "$bin/bt-mz" --class S >out 2>&1
    [ "$(field ' Iterations  ')" = 7 ] && grep -q 'dt:   0.005000' out || say "input '$text': $(cat out)"
done
for text in x '-1' '5\nnone' '5\n-1' ',5' '\n\n5\n\n1e400'; do
    printf '%b\n' "$text" >inputbt-mz.data
    "$bin/bt-mz" --class S >out 2>&1
    [ $? = 2 ] && grep -q 'inputbt-mz.data:[125]: ' out || say "input '$text': $(cat out)"
done
rm inputbt-mz.data
for file in inputbt-mz.data loadbt-mz.data; do
    mkdir $file
    "$bin/bt-mz" --class S >out 2>&1
    [ $? = 2 ] && grep -q "$file: cannot be read" out || say "$file is a folder: $(cat out)"
    rmdir $file
done
NPB_TIMER_FLAG=on "$bin/bt-mz" --class S | grep -q 'exch_qbc' || say 'NPB_TIMER_FLAG is not honoured'

# The load file gives threads per rank; the command line overrides it.
threads() { awk '/Total threads/ { print $4 }' out; }
for text in '0 2 1' '# ranks\n\n0:3 2 0 ! two each' '2:0 2 -1' '0,2,1' '0 1 1\n0 2 1' \
    "#$(printf '%600s' ranks)\n0 2 1 ! $(printf '%600s' two)\r"; do
    printf "$text\n" >loadbt-mz.data
    "$bin/bt-mz" --class S >out 2>&1
    [ "$(threads)" = 2 ] || say "load file '$text': $(threads) threads"
done
"$bin/bt-mz" --class S --layout 1x1 >out 2>&1
[ "$(threads)" = 1 ] || say "--layout does not override the load file: $(threads)"
printf '0 0 1\n1 2 1\n' >loadbt-mz.data
if command -v mpirun >/dev/null; then
    mpirun --allow-run-as-root --oversubscribe -n 2 "$bin/bt-mz" --class S >out 2>&1
    [ "$(threads)" = 3 ] || say "load file of two ranks: $(threads) threads: $(cat out)"
fi
for text in '1 2 1' '0 x 1' '0:1 2' '0' '0 4294967298 1'; do
    printf "$text\n" >loadbt-mz.data
    "$bin/bt-mz" --class S >out 2>&1
    [ $? = 2 ] && grep -q 'loadbt-mz.data:' out || say "load file '$text': $(cat out)"
done
rm loadbt-mz.data

"$bin/lu-mz" --class S --json json --report page.html >/dev/null
grep -q 'id="norms"' page.html && grep -q '"surface_reference"' page.html || say 'no norms on the page'
for key in residual_reference residual_deviation error_reference error_deviation surface_reference surface_deviation; do
    grep -q "\"$key\"" json || say "JSON without $key"
done
exit $failed
