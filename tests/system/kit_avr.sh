#!/bin/sh
# needs: virtual time, full
# The C client on an ATmega328P: its size, and the lab's L0 in simavr, in JSON lines and in positional text.
command -v mosquitto_sub >/dev/null || { echo "no mosquitto-clients"; exit 77; }
for need in avr-gcc avr-size cc; do
    command -v "$need" >/dev/null || { echo "SKIPPED: the firmware, for there is no $need (gcc-avr, avr-libc)"; exit 77; }
done
PYTHONPATH=tests/support exec python3 tests/system/kit_avr.py
