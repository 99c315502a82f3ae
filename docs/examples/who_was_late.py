#!/usr/bin/env python3
"""Prints for every command which robot was late and by how much.

    who_was_late.py [--url http://127.0.0.1:8420] [--pair r1,r2] [--token-file FILE] [--count N]

It receives Tandem's events (docs/http.md). After a restart of the daemon it continues after the
last event.
"""
import argparse
import json
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime


def events(lines):
    """(id, type, data) of each Server-Sent Event in the lines of a stream."""
    fields = {}
    for line in lines:
        text = line.decode().rstrip("\r\n")
        if text:
            name, _, value = text.partition(":")  # a comment has no name
            fields[name] = value.removeprefix(" ")
        elif fields:
            yield fields.get("id"), fields.get("event"), fields.get("data")
            fields = {}


def listen(options):
    """All events of the pairs; it reconnects when the connection ends."""
    last = None
    query = {"type": "entry", **({"pair": options.pair} if options.pair else {})}
    while True:
        headers = {"Last-Event-ID": last} if last else {}
        if options.token_file:
            headers["Authorization"] = "Bearer " + pathlib.Path(options.token_file).read_text().split("\n")[0]
        request = urllib.request.Request(f"{options.url}/api/v1/events?{urllib.parse.urlencode(query)}",
            headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as stream:
                for place, kind, data in events(stream):
                    last = place or last
                    if kind:
                        yield kind, json.loads(data)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                sys.exit(f"{options.url}: {json.loads(error.read())['detail']}")
        except OSError as error:
            print(f"{options.url}: {error}; trying again", file=sys.stderr)
        time.sleep(2)


def judge(entry):
    """The verdict in words, and the difference between the two answers, if any."""
    return time_verdict(entry) + (f"; the answers differ: {entry['differs']}" if entry.get("differs") else "")


def time_verdict(entry):
    """lag_s is the real robot's lap minus the virtual one's."""
    verdict, lag_s = entry["verdict"], entry["lag_s"]
    if verdict in ("AHEAD", "BEHIND"):
        late = "real" if verdict == "AHEAD" else "virtual"
        error = f" ± {entry['lag_uncertainty_s']:.3f}" if "lag_uncertainty_s" in entry else ""
        return f"the {late} robot was late by {abs(lag_s):.3f}{error} s"
    if verdict == "SYNC":
        return f"together, within {abs(lag_s):.3f} s"
    if verdict == "TIMEOUT":
        return f"no answer in time: {entry['timeout_side']}"
    return verdict


def main():
    parser = argparse.ArgumentParser(description="Prints for every command which robot was late and by how much.")
    parser.add_argument("--url", default="http://127.0.0.1:8420", help="of the daemon")
    parser.add_argument("--pair", help="only these, with commas between")
    parser.add_argument("--token-file", help="its first line is the token; needed from other machines")
    parser.add_argument("--count", type=int, default=0, help="end after this number of commands")
    options = parser.parse_args()
    seen = 0
    for kind, data in listen(options):
        if kind == "missed":
            print(f"{data['n'] or 'some'} commands were missed", file=sys.stderr)
            continue
        when = datetime.fromtimestamp(data["t"]).strftime("%H:%M:%S")
        print(f"{when} {data['pair']} {data['id'] or data['op']}: {judge(data)}", flush=True)
        seen += 1
        if seen == options.count:
            return


try:
    main()
except (KeyboardInterrupt, BrokenPipeError):
    sys.stderr.close()
