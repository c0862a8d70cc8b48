# tests/e2e/report_page.sh – the report of a comparison in a browser: no error, a row for each
# policy, bars for each unit, other policies and steps can be chosen. Needs BIN and Chromium.
. tests/check.sh
. tests/browser.sh
"$BIN/bt-mz" --class S --layout 1x1+1 --devices host:0 --compare static,dynamic --profile=make --report "$work/report.html" \
    --quiet || { echo 'bt-mz fails'; exit 1; }
cat >"$work/script.js" <<'JS'
addEventListener('load', () => {
  say(`rows: ${document.querySelectorAll('#runs tr').length}`);
  say(`verdict: ${document.getElementById('verdict').textContent.replace(/ · .*/, '')}`);
  say(`heard: ${[...document.querySelectorAll('canvas')].map(e => e.getAttribute('role') + ' ' + e.ariaLabel).join(', ')}`);
  say(`captions: ${[...document.querySelectorAll('table')].map(e => e.caption.textContent).join(', ')}`);
  say(`policies: ${[...document.getElementById('policy').options].map(o => o.textContent).sort().join(' ')}`);
  const first = gantt;
  const heads = [...document.querySelectorAll('#runs th')].map(e => e.textContent), at = heads.indexOf('lost to feeding');
  say(`fed: ${[...document.querySelectorAll('#runs tr')].slice(1).every(tr => /^[0-9.]+ %$/.test(tr.children[at].textContent))}`);
  say(`units: ${gantt.data.labels.join(' ')}`);
  say(`computed: ${gantt.data.datasets[0].data.length > 0}`);
  document.getElementById('policy').value = 1;
  document.getElementById('policy').dispatchEvent(new Event('change'));
  say(`redrawn: ${gantt !== first}`);
  say(`steps: ${document.getElementById('step').options.length}`);
  done();
});
JS
said=$(page_says "$work/report.html" "$work/script.js")
expect 'rows: 3'
expect 'verdict: All 2 verified'
expect 'heard: img Computation and communication periods by policy, img Seconds lost, by cause, img Load of each unit, img Units over time, img Last task of each unit over the steps'
expect 'captions: Norms, Runs'
expect 'policies: dynamic static'
expect 'fed: true'
expect 'units: cpu0 host:0'
expect 'computed: true'
expect 'redrawn: true'
expect 'steps: 60'
"$BIN/bt-mz" --class S --steps 800 --layout 1x1+1 --devices host:0 --compare dynamic,gss${EK_LONG:+,static,tss,evenkeel} --report "$work/long.html" --quiet
[ "$(wc -c <"$work/long.html")" -le 1000000 ] || say 'the page of two policies, or five, is above a megabyte'
grep -q '^error' <<<"$said" && say "the page has errors: $said"
exit $failed
