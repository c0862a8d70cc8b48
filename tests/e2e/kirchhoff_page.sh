# tests/e2e/kirchhoff_page.sh – the migration's page in a browser: it draws slices, fold, gathers
# and spectra, the spectrum peaks at the wavelet's frequency, the strongest point is the diffractor,
# units have bars. Needs BIN and Chromium.
. tests/check.sh
. tests/browser.sh
"$BIN/kirchhoff-mig" --generate medium --out "$work/data.segy"
"$BIN/kirchhoff-mig" "$work/data.segy" --velocity gradient:v0=2000,k=0.5 --node-spacing 400 --grid 9x11x41:50x50x10@1300,1300,800 \
    --weight diffractor --spacing-receiver 25 --classes 4 --class-width 500 --chunk 64 --layout 1x1+1 --devices host:0 --schedule greedy:batch=4 \
    --aperture 400 --report "$work/report.html" --quiet || { echo 'kirchhoff-mig fails'; exit 1; }
cat >"$work/script.js" <<'JS'
addEventListener('load', () => {
  say(`pictures: ${document.querySelectorAll('#slices canvas').length}`);
  say(document.getElementById('where').textContent);
  const painted = [...document.querySelectorAll('#slices canvas')].map(c => {
    const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
    return `${c.width}x${c.height}:${new Set(d).size > 2}`;
  });
  say(`painted: ${painted.join(' ')}`);
  const s = data.view.spectra, grey4 = [...document.querySelectorAll('#spectra canvas')].map(c =>
    [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data].filter(v => v === 0x9a).length > 100);
  const top = a => a.indexOf(Math.max(...a)) + 1, peak = s[0].last * top(s[0].amplitude) / s[0].amplitude.length;
  say(`spectra: ${s.map(o => o.name).join(' ')} ${grey4.join(' ')}, peak within a tenth: ${Math.abs(peak / 15 - 1) < .1}`);
  const bars = gantt.data.datasets[0].data;
  say(`bars: ${['cpu0', 'host:0'].map(unit => bars.filter(b => b.y === unit && b.x[1] > b.x[0]).length > 0)}`);
  done();
});
JS
said=$(page_says "$work/report.html" "$work/script.js")
expect 'pictures: 7'
expect 'Slices through the strongest point, x 1500 m, y 1500 m, depth 1000 m.'
expect 'painted: 9x41:true 9x41:true 11x41:true 9x11:true 9x11:true 4x41:true 24x41:true'
expect 'spectra: Traces Image true true, peak within a tenth: true'
expect 'bars: true,true'
grep -q '^error' <<<"$said" && say "the page has errors: $said"
exit $failed
