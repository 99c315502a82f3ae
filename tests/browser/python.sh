# tests/browser/python.sh - $python: an interpreter that can drive browsers. Debian's is not always the first on the
# path.
command -v chromium >/dev/null && command -v chromedriver >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import selenium' 2>/dev/null && break
done
[ "$python" != none ] || exit 77
