#!/bin/sh
# needs: virtual time
# GET /api/v1/teams/{team}/plan of a live daemon, before and after its robots worked.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/team_plan_http.py"
