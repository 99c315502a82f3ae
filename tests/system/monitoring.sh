#!/bin/sh
# needs: real time
# Grafana dashboard and alert rules: every expression against a live daemon in a live Prometheus; when alerts fire.
command -v python3 >/dev/null && command -v prometheus >/dev/null && command -v promtool >/dev/null || exit 77
promtool check rules packaging/alerts.yaml && promtool test rules packaging/alerts_test.yaml || exit 1
PYTHONPATH=tests/support exec python3 tests/system/monitoring.py
