# tests/e2e/cu_run_page.sh – the page of cu-run plan in a browser: no error, a row for each method,
# a block for each task, and a click on a row shows its schedule. Needs BIN and Chromium.
. tests/check.sh
. tests/browser.sh

"$BIN/cu-run" plan --tasks "7 x 9/p+1, <b>x = 2 x [9,5,4]" --nodes "a:4:1,b:2:1.5" --report "$work/page.html" \
    >/dev/null || { echo 'cu-run plan fails'; exit 1; }

cat >"$work/script.js" <<'JS'
addEventListener('load', () => {
  const blocks = () => new Set([...document.querySelectorAll('rect.task title')].map(t => t.textContent.split(':')[0])).size;
  const rows = [...document.querySelectorAll('#plans tr')];
  say(`methods: ${rows.map(r => r.dataset.method).join(' ')}`);
  say(`tasks: ${blocks()}, ticks: ${[...document.querySelectorAll('svg text')].filter(t => / s$/.test(t.textContent)).length}`);
  rows[0].onclick();
  say(`shown: ${document.getElementById('shown').textContent} ${blocks()}`);
  done();
});
JS
said=$(page_says "$work/page.html" "$work/script.js")
expect 'methods: taskp datap hcpa dcts waterl wlsearch evenkeel'
expect 'tasks: 9, ticks: 6'
expect 'shown: taskp 9'
grep -q '^error' <<<"$said" && say "the page: $said"
exit $failed
