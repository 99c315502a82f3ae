# replay, play and identify of what is no recording, or not of this lab: exit 1, and words that say what it is. Files that carry a
# byte order mark are read; lines that are too long, pipes and devices are told; nothing of a file controls the terminal.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/odd_recordings.py
