# tests/e2e/mcsem_page.sh – the report of an inversion in a browser: no error, slices of the
# recovered and the true model that follow a click, misfit, cells and load. Needs BIN and Chromium.
. tests/check.sh
skip_under_sanitizers 'e2e/mcsem runs a part of a survey'
. tests/browser.sh
"$BIN/mcsem" --generate tiny --out "$work/survey.csv" --truth "$work/truth.csv" || say 'no survey'

cat >"$work/script.js" <<'JS'
addEventListener('load', () => {
  const all = s => [...document.querySelectorAll(s)], canvas = n => all('#slices canvas')[n];
  const picture = c => c.toDataURL();
  const point = (target, kind, x, y) => { const r = target.getBoundingClientRect();
    target.dispatchEvent(new MouseEvent(kind, { clientX: r.left + x, clientY: r.top + y, bubbles: true })); };
  const colours = c => { const d = c.getContext('2d').getImageData(70, 35, c.width - 100, c.height - 90).data, seen = new Set();
    for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
    return seen.size; };
  say(`slices: ${all('#slices canvas').length}`);
  say(`depth: ${document.getElementById('depth-is').value}`);
  say(`painted: ${all('#slices canvas').every(c => colours(c) > 2) && colours(document.querySelector('#cell-map canvas')) > 20}`);
  const before = all('#slices canvas').map(picture);
  point(canvas(0), 'click', 100, 60);
  say(`moved: ${all('#slices canvas').filter((c, i) => picture(c) !== before[i]).length}`);
  document.getElementById('depth').value = 0;
  document.getElementById('depth').dispatchEvent(new Event('input'));
  say(`top: ${document.getElementById('depth-is').value}`);
  point(canvas(0), 'mousemove', 100, 60);
  const tip = all('#slices .tip')[0];
  say(`tip: ${tip.style.visibility} ${/Ω m\nx .* km, y .* km\n0–150 m below/.test(tip.textContent)}`);
  say(`sure: ${/factor [0-9.]+ \(one σ\)\na mean over \d+ m/.test(tip.textContent)}`);
  const chart = id => Chart.getChart(document.getElementById(id)).data.datasets;
  say(`misfit: ${chart('misfit')[0].data.length} falls ${chart('misfit')[0].data[0].y > chart('misfit')[0].data[1].y}`);
  say(`offsets: ${chart('offsets').length}`);
  say(`pairs: ${chart('cell-pairs')[0].data.reduce((a, b) => a + b, 0)}`);
  say(`costs: ${chart('cell-cost')[0].data.every(p => p.y > 0)}`);
  say(`load: ${document.getElementById('load') === null ? 'none' : chart('uneven').map(d => `${d.label} ${d.data.length}`).sort().join(', ')}`);
  say(`cards: ${all('#cards .card').length}`);
  say(`receivers: ${document.getElementById('receiver').options.length}`);
  say(`data: ${chart('amplitudes').length} ${chart('phases').length}`);
  const fit = n => chart(n)[0].data.every((p, i) => p.span[0] < p.y && p.y < p.span[1]) && chart(n)[0].data.length > 5;
  const bins = id => chart(id).map(d => d.data.length).join(' ');
  say(`bars: ${fit('amplitudes') && fit('phases')}`);
  const worst = bins('amplitudes'), dots = picture(document.querySelector('#cell-map canvas'));
  const cells = document.querySelector('#cell-map canvas');
  point(cells, 'click', 70, cells.getBoundingClientRect().height - 45);
  say(`took: ${document.getElementById('receiver').selectedOptions[0].textContent.replace(/:.*/, '')} ${picture(cells) !== dots}`);
  say(`note: ${document.getElementById('fit-note').textContent.includes('RMS misfit of all data')}`);
  const map = picture(document.querySelector('#cell-map canvas'));
  document.getElementById('cell-what').value = 'misfit';
  document.getElementById('cell-what').dispatchEvent(new Event('change'));
  say(`other map: ${picture(document.querySelector('#cell-map canvas')) !== map}`);
  say(`rows: ${all('#runs tr').length}`);
  done();
});
JS
page() { # arguments…: what the page says
    "$BIN/mcsem" "$work/survey.csv" --quiet --target 15 --report "$work/page.html" "$@" 2>/dev/null || say "$* exits $?"
    said=$(page_says "$work/page.html" "$work/script.js")
    grep -q '^error' <<<"$said" && say "the page of $* has errors: $said"
}

page --uncertainty --truth "$work/truth.csv" --iterations 2 --layout 2x1 --compare naive,heft
expect 'slices: 6'
expect 'painted: true'
expect 'moved: 6'
expect 'top: 75 m'
expect 'tip: visible true'
expect 'sure: true'
expect 'misfit: 3 falls true'
expect 'offsets: 3'
expect 'pairs: 320'
expect 'costs: true'
expect 'load: heft 2, naive 2'
expect 'cards: 5'
expect 'receivers: 12'
expect 'data: 4 4'
expect 'bars: true'
expect 'took: 0.00 km, 0.00 km true'
expect 'note: true'
expect 'other map: true'
expect 'rows: 3'
grep -qE '^depth: (9[0-9]{2}|1[01][0-9]{2}) m$' <<<"$said" || say "it does not open at the body: $said"

# Without the truth; three more columns, which have no data.
page --iterations 1 --layout 1x1 --earth nx=8
expect 'slices: 3'
expect 'cards: 5'
expect 'pairs: 320'
expect 'load: none'
exit $failed
