# tests/e2e/long/oclgrind.sh – NPB-MZ's kernels under oclgrind, which interprets them: no work-item reads
# or writes beyond a buffer, and no two of a launch touch the same byte if one of them writes.
# Environment: BIN. Its search for values never written stops at an instruction of clang 14 (freeze).
. tests/check.sh
skip_under_sanitizers 'an interpreter of kernels'
command -v oclgrind >/dev/null || { echo 'skipped: oclgrind is not installed'; exit 77; }
unset OMP_PLACES OMP_PROC_BIND CU_LAYOUT CU_DEVICES
export CU_KERNEL_CACHE=0
for program in bt-mz sp-mz lu-mz; do
    oclgrind --data-races --log "$work/log" "$BIN/$program" --class S --steps 1 --devices opencl:0 --layout 0x0+1 \
        --json "$work/json" >"$work/out" 2>"$work/err"
    check $? "$program runs under oclgrind: $(cat "$work/err")"
    grep -q '"opencl:0"' "$work/json"
    check $? "$program computes on oclgrind's device"
    [ ! -s "$work/log" ]
    check $? "$program: $(head -20 "$work/log")"
done
exit $failed
