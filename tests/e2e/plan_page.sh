# tests/e2e/plan_page.sh – the capacity page in a browser: no error, a point names the machines that
# it stands for, a click shows their schedule. Needs BIN and Chromium.
. tests/check.sh
. tests/browser.sh

cat >"$work/machine.json" <<'JSON'
{"name": "<b>two & \"three\"</b>", "nodes": [
  {"name": "slow</script>", "count": 2, "cores": 2, "speed": 1},
  {"name": "fast", "count": 1, "cores": 4, "speed": 3, "devices": {"count": 1, "speed": 9, "fixed_s": 0.1}}]}
JSON
echo '{"tasks": {"cost": [9, 7, 5, 5, 4, 3, 3, 2, 2, 1, 1, 1]}}' >"$work/tasks.json"
"$BIN/cu-plan" --machine "$work/machine.json" --run "$work/tasks.json" --schedules heft,sorted-greedy \
    --report "$work/plan.html" >/dev/null || { echo 'cu-plan fails'; exit 1; }

cat >"$work/script.js" <<'JS'
function mouse(canvas, type, x, y) {
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent(type, { clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true }));
}
addEventListener('load', () => {
  say(`title: ${document.getElementById('title').textContent}`);
  say(`scenarios: ${scenarios.length}`);
  say(`rows: ${document.querySelectorAll('#best tbody tr').length} ${document.querySelectorAll('#gains tbody tr').length}`);
  const wanted = scenarios.findIndex(s => s.nodes[0] === 1 && s.nodes[1] === 0);
  const point = cloud.getDatasetMeta(1).data[wanted].getProps(['x', 'y'], true);
  mouse(cloud.canvas, 'mousemove', point.x, point.y);
  frames(3, () => { // events wait for the next frame
    say(`hover: ${cloud.tooltip.opacity > 0 ? cloud.tooltip.body.map(b => b.lines.join(' | ')).join(' || ') : 'nothing'}`);
    mouse(cloud.canvas, 'click', point.x, point.y);
    frames(3, () => {
      say(`chosen: ${document.getElementById('chosen').textContent}`);
      const bars = gantt.data.datasets.flatMap(d => d.data);
      say(`bars: ${bars.length} tasks ${new Set(bars.map(b => b.task)).size} units ${gantt.data.labels.length}`);
      say(`end: ${Math.max(...bars.map(b => b.x[1]))}`);
      done();
    });
  });
});
JS
said=$(page_says "$work/plan.html" "$work/script.js")
expect() { grep -qF -- "$1" <<<"$said" || say "'$1' is not in: $said"; }
expect 'scenarios: 5'
expect 'rows: 3 2'
expect 'title: '
# One slow node: 43 units of cost on two cores, as sorted-greedy and as the bound have it.
expect 'slow&lt;/script&gt; × 1 | 2 cores'
expect 'chosen: slow&lt;/script&gt; × 1'
expect 'bars: 12 tasks 12 units 2'
expect 'end: 22'
grep -q '^error' <<<"$said" && say "the page has errors: $said"
exit $failed
