# tests/browser.sh – for tests of HTML pages: after tests/check.sh, source it. `page_says PAGE
# SCRIPT` runs the script inside a copy of the page in headless Chromium and prints what it had
# passed to say() when it called done(). The page's uncaught errors and console.error come out as
# "error: …". `expect LINE` looks for a line in $said.

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
[ -n "$browser" ] || { echo 'no Chromium here'; exit 77; }

expect() { grep -qxF -- "$1" <<<"$said" || say "'$1' is not in: $said"; }

# The reporter goes first, so that it hears of errors from the very beginning; the script goes last.
# Without a screen there may be no frames: a clock gives them.
inject() { # page, script, copy
    awk -v script="$2" '
        /<head>/ && !begun { print; begun = 1
            print "<script>const said = []; const say = text => said.push(text);"
            print "addEventListener(\"error\", e => { say(\"error: \" + e.message); done(); });"
            print "console.error = (...a) => say(\"error: \" + a.join(\" \"));"
            print "window.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 16);"
            print "const frames = (n, call) => requestAnimationFrame(n ? () => frames(n - 1, call) : call);"
            print "function done() { const pre = document.createElement(\"pre\"); pre.id = \"said\";"
            print "  pre.textContent = \"\\n\" + said.join(\"\\n\") + \"\\n\"; document.body.replaceChildren(pre); }"
            print "</script>"; next }
        /<\/body>/ { print "<script>"; while ((getline line < script) > 0) print line; print "</script>" }
        { print }' "$1" >"$3"
}

page_says() { # page, script
    local folder copy
    folder=$(mktemp -d)
    copy=$folder/page.html
    inject "$1" "$2" "$copy"
    timeout -k 5 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$folder/profile" --window-size=1200,1400 --virtual-time-budget=20000 \
        --dump-dom "file://$copy" 2>"$folder/log" |
        sed -n '/<pre id="said">/,/<\/pre>/p' | sed 's/<[^>]*>//g'
    rm -rf "$folder"
}
