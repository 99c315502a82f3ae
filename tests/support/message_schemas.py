"""message_schemas.py - the JSON Schemas of docs/protocol, and the schema of each message."""
import json

import jsonschema

# Schemas of topics below PREFIX/PAIR/.
OF_TOPIC = {"command": "command", "reply": "merged_reply", "notice": "notice", "entry": "entry", "alarm": "alarm",
            "change": "change", "calibration": "calibration", "calibration/dynamics": "dynamics", "fidelity": "fidelity", "eta": "eta",
            "virtual/parameters": "parameters", "virtual/parameters/ack": "ack",
            "mission": "mission", "mission/status": "mission_status",
            "virtual/pose": "pose", "virtual/pose/ack": "pose_ack",
            "request": "team_request", "job": "team_job", "response": "team_response", "event": "team_event", "state": "team_state",
            "result": "team_result",
            **{f"{side}/{word}": word for side in ("real", "virtual")
               for word in ("command", "reply", "telemetry", "connection", "probe", "echo", "control", "machines")}}


def load(source):
    return {path.name.split(".")[0]: json.loads(path.read_text()) for path in (source / "docs/protocol").glob("*.schema.json")}


def validator(schemas, name):
    """Schemas refer to each other by the names of their files."""
    store = {f"file:///{other}.schema.json": schema for other, schema in schemas.items()}
    resolver = jsonschema.RefResolver(f"file:///{name}.schema.json", schemas[name], store)
    return jsonschema.Draft202012Validator(schemas[name], resolver=resolver)


def check_messages(schemas, prefix, messages):
    """Checks that each (topic, payload) satisfies its schema; returns the names of the schemas that were used."""
    validators = {name: validator(schemas, name) for name in schemas}
    used = set()
    for topic, payload in messages:
        words = topic.removeprefix(prefix + "/").split("/", 1)
        if words[0] == "heartbeat":
            continue
        assert words[0] == "connection" or words[1] in OF_TOPIC, f"{topic}: not in docs/protocol.md"
        name = "connection" if words[0] == "connection" else OF_TOPIC[words[1]]
        name = "team_event" if name == "alarm" and payload.get("type") == "alarm" else name  # a team's, in its own words
        error = jsonschema.exceptions.best_match(validators[name].iter_errors(payload))
        assert error is None, f"{topic} {payload}: {error.json_path}: {error.message}"
        used.add(name)
    return used
