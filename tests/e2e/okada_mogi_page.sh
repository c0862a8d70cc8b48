# tests/e2e/okada_mogi_page.sh – the report of a search in a browser: no error, all tables and
# figures, tooltips of the map and the corner plot, the vertical map, and a page without accepted
# trials. Needs BIN and Chromium.
. tests/check.sh
. tests/browser.sh
folder=$PWD/okada_mogi/examples

cat >"$work/script.js" <<'JS'
addEventListener('load', () => {
  const all = s => [...document.querySelectorAll(s)], tip = s => document.querySelector(`${s} .tip`);
  const point = (target, x, y) => target.dispatchEvent(new MouseEvent('mousemove', { clientX: x, clientY: y, bubbles: true }));
  say(`parameters: ${all('#parameters td:first-child').length}`);
  say(`stations: ${all('#stations tr').length - 1}`);
  say(`sites: ${all('#map .site').length}`);
  say(`warnings: ${all('#warnings li').length}`);
  say(`charts: ${all('#marginals canvas').length}`);
  say(`best: ${all('#parameters tr').length > 1 ? all('#parameters tr')[1].children[1].textContent : 'none'}`);
  const site = all('#map .site')[0];
  const before = site.outerHTML;
  point(site, 300, 300);
  say(`site: ${tip('#map').style.visibility} ${tip('#map').textContent.split('\n')[0]}`);
  const vertical = document.querySelector('input[value=vertical]');
  vertical.checked = true;
  vertical.dispatchEvent(new Event('change'));
  say(`redrawn: ${all('#map .site')[0].outerHTML !== before}`);
  const canvas = document.querySelector('#corner canvas');
  if (canvas) {
    const box = canvas.getBoundingClientRect();
    const words = [];
    for (let y = 4; y < box.height; y += 9)
      for (let x = 4; x < box.width; x += 9) {
        point(canvas, box.left + x, box.top + y);
        if (tip('#corner').style.visibility === 'visible') words.push(tip('#corner').textContent);
      }
    say(`cells: ${words.filter(w => /\n[1-9][\d,]* trials$/.test(w)).length > 50}`);
    say(`pairs: ${new Set(words.map(w => w.replace(/: .*/g, '')).map(w => w.replace(/\n[\d,]* trials/, ''))).size}`);
    const posterior = document.querySelector('input[name=corner][value="3"]');
    posterior.checked = true;
    posterior.dispatchEvent(new Event('change'));
    let likely = 0;
    for (let x = 4; x < box.width; x += 9) {
      point(canvas, box.left + x, box.top + x * box.height / box.width);
      likely += / % of the posterior$/.test(tip('#corner').textContent);
    }
    say(`posterior: ${likely > 10} ${all('#corner .tip').length}`);
  } else say('no corner');
  say(`sections: ${all('h2').length > 3}`);
  done();
});
JS
page() { # program, job, arguments…: what the page says
    "$BIN/$1" "$2" --layout 1x1 --report "$work/page.html" --quiet "${@:3}" || say "$1 $2 exits $?"
    said=$(page_says "$work/page.html" "$work/script.js")
    grep -q '^error' <<<"$said" && say "the page of $2 has errors: $said"
}

page mogi $folder/campi.json
expect 'parameters: 4'
expect 'stations: 14'
expect 'sites: 14'
expect 'warnings: 0'
expect 'charts: 4'
expect 'best: 426300'
expect 'site: visible CF01'
expect 'redrawn: true'
expect 'cells: true'
expect 'posterior: true 1'
expect 'pairs: 10'

page okada $folder/parkfield.json --compare static,dynamic
expect 'parameters: 10'
expect 'sites: 14'
expect 'warnings: 6'
expect 'charts: 9'
expect 'cells: true'
expect 'posterior: true 1'

# No trial is accepted.
sed 's|"k_sigma": \[.*\]|"k_sigma": 0.1|; s|"campi_stations|"'"$folder"'/campi_stations|' \
    $folder/campi.json >"$work/none.json"
page mogi "$work/none.json"
expect 'parameters: 0'
expect 'stations: 14'
expect 'warnings: 1'
expect 'no corner'
expect 'site: visible CF01'
grep -qE '(src|href) *= *"?(https?:)?//' "$work/page.html" && say 'the page loads something from elsewhere'
exit $failed
