# replay, play and identify of files that are no recording, or not of this lab: exit status 1, and an error that names
# the cause. Files with a byte order mark are read; long lines, pipes and devices are reported; no file controls the
# terminal.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/odd_recordings.py
