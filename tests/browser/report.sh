#!/bin/sh
# A report on paper: Chromium prints it, and no row of a table is parted by the end of a page.
command -v chromium >/dev/null || { echo "SKIPPED: no chromium"; exit 77; }
exec python3 tests/browser/report.py
