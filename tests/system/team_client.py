"""Robots that the team does not command: their own controllers lock and unlock a tool over a broker, and get answers.

Each answer has the form of VDA 5050 3.0's responses to zone requests (GRANTED, QUEUED, REVOKED, REJECTED; a lease's
end), and the fence of each grant. The cases: granted, queued, handed over, renewed by a sign of life, revoked by
silence and by a person, refused under an old fence. A repeated request gets its answer again, and nothing is done
twice.
"""
import datetime
import json
import queue

from mqtt import Client
from rig import Rig
from waiting import limit_s, pass_time

LEASE_S, DELAY_S = 1.5, 0.3
TOKEN = "secret-of-the-test"
GRANT_TYPES = {"GRANTED", "QUEUED", "REVOKED", "REJECTED"}  # VDA 5050 3.0, responses: grantType
TEAM = f"""
defaults: {{mode: link}}
pairs: {{r1: {{}}, r2: {{}}}}
teams:
  cell:
    resources:
      Place: {{}}
      Tool: {{kind: tool, lease_s: {LEASE_S}, on_lost: release, delay_s: {DELAY_S}}}
    sequences: {{j: [Wait]}}
    robots: {{R1: {{pair: r1}}, R2: {{pair: r2}}}}
"""


def as_vda(answer):
    """The answer as an item of `responses`: requestId, grantType, and an ISO 8601 leaseExpiry if it is granted for a
    time.
    """
    item = {"requestId": answer["id"], "grantType": answer["grant"]}
    if answer.get("lease_expiry") is not None:
        item["leaseExpiry"] = datetime.datetime.fromtimestamp(answer["lease_expiry"], datetime.timezone.utc).isoformat()
    assert isinstance(item["requestId"], str) and item["grantType"] in GRANT_TYPES, item
    assert "leaseExpiry" not in item or item["grantType"] == "GRANTED", item
    return item


class Controllers:
    """Both robots' controllers, and the answers that they receive."""

    def __init__(self, rig):
        self.received, self.count = queue.Queue(), 0
        self.client = Client(rig.broker_port, "controllers", clean=True, topics=["tandem/v1/cell/response"],
                             on_message=lambda topic, payload: self.add_answer(json.loads(payload)))
        assert self.client.subscribed.wait(limit_s(10))

    def add_answer(self, answer):
        """This topic also has the answers to a person's request over HTTP."""
        if answer["robot"] is not None:
            self.received.put(answer)

    def say(self, robot, op, number=None, **what):
        """The id of this request."""
        self.count += number is None
        name = f"z{number or self.count}"
        self.client.publish("tandem/v1/cell/request", json.dumps({"id": name, "robot": robot, "op": op, **what}))
        return name

    def receive(self, name, robot, grant):
        """The next answer, which must be this one; None: an unlock that was done."""
        answer = self.received.get(timeout=limit_s(10))
        assert (answer["id"], answer["robot"], answer.get("grant")) == (name, robot, grant), (answer, name, robot, grant)
        if grant:
            as_vda(answer)
        return answer

    def expect_silence(self, seconds):
        pass_time(seconds)
        assert self.received.empty(), self.received.get()


def hand_over(c):
    """One robot has the tool, then the other; each under a fence of its own."""
    first = c.say("R1", "lock", resources=["Place"])
    held = c.receive(first, "R1", "GRANTED")
    assert held["fences"] == {"Place": 1} and held["lease_expiry"] is None, held
    second = c.say("R2", "lock", resources=["Place"])
    assert c.receive(second, "R2", "QUEUED")["behind"] == ["R1"]
    c.say("R1", "lock", number=first[1:], resources=["Place"])
    assert c.receive(first, "R1", "GRANTED")["fences"] == {"Place": 1}, "repeated: the same grant"
    refused = c.say("R1", "unlock", resources=["Place"], fence=99)
    assert "fence" in c.receive(refused, "R1", "REJECTED")["detail"]
    freed = c.say("R1", "unlock", resources=["Place"], fence=1)
    answers = [c.received.get(timeout=limit_s(10)), c.received.get(timeout=limit_s(10))]
    assert {answer["id"]: answer for answer in answers}[freed]["released"] == {"Place": 1}, answers
    granted = {answer["id"]: answer for answer in answers}[second]
    assert as_vda(granted)["grantType"] == "GRANTED" and granted["fences"] == {"Place": 2}, granted
    return granted


def revoke(c, rig, granted):
    """A person frees the place under its present fence, and under no other."""
    path = "/api/v1/teams/cell/resources/Place/release"
    try:
        rig.fetch(path, "POST", json.dumps({"fence": 1, "reason": "seen empty"}).encode(), TOKEN)
        raise AssertionError("an old fence was accepted")
    except OSError as error:
        assert error.code == 409, error
    rig.fetch(path, "POST", json.dumps({"fence": 2, "reason": "seen empty"}).encode(), TOKEN)
    c.receive(granted["id"], "R2", "REVOKED")
    late = c.say("R2", "unlock", resources=["Place"], fence=2)
    c.receive(late, "R2", "REJECTED")


def let_lease_end(c):
    """Signs of life renew the grant; silence ends it, and the next robot gets it under a higher fence, after the
    delay.
    """
    first = c.say("R1", "lock", resources=["Tool"])
    held = c.receive(first, "R1", "GRANTED")
    assert abs(held["lease_expiry"] - held["t"] - LEASE_S) < 0.01, held
    second = c.say("R2", "lock", resources=["Tool"])
    c.receive(second, "R2", "QUEUED")
    for _ in range(4):
        c.expect_silence(LEASE_S / 2)
        c.say("R1", "alive")
    c.say("R1", "lock", number=first[1:], resources=["Tool"])
    renewed = c.receive(first, "R1", "GRANTED")
    assert renewed["fences"] == held["fences"] and renewed["lease_expiry"] > held["lease_expiry"] + LEASE_S, (held, renewed)
    revoked = c.receive(first, "R1", "REVOKED")
    granted = c.receive(second, "R2", "GRANTED")
    assert revoked["t"] >= renewed["lease_expiry"] - 0.01, (renewed, revoked)
    assert granted["t"] >= revoked["t"] + DELAY_S - 0.01, (revoked, granted)
    assert granted["fences"]["Tool"] > held["fences"]["Tool"], (held, granted)
    late = c.say("R1", "unlock", resources=["Tool"], fence=held["fences"]["Tool"])
    c.receive(late, "R1", "REJECTED")
    c.say("R2", "unlock", resources=["Tool"], fence=granted["fences"]["Tool"])
    assert c.received.get(timeout=limit_s(10))["released"] == granted["fences"]


def main():
    with Rig() as rig:
        head = rig.lab.read_text()
        rig.lab.write_text(head[:head.index("\npairs:")] + TEAM)
        rig.start_daemon()
        c = Controllers(rig)
        revoke(c, rig, hand_over(c))
        let_lease_end(c)
        c.receive(c.say("R1", "lock", resources=["Nothing"]), "R1", "REJECTED")
        assert "Error" in c.receive(c.say("R1", "lock", resources=["Place"]), "R1", "REJECTED")["detail"], "its lease has ended"
        rig.fetch("/api/v1/teams/cell/robots/R1/reset", "POST", b"", TOKEN)
        # The answer does not wait for the lab, so a message over MQTT may arrive earlier.
        rig.wait(lambda: rig.get("/api/v1/teams/cell")["state"]["robots"]["R1"]["state"] != "ERROR", "the reset")
        both = c.receive(c.say("R1", "lock", resources=["Place", "Tool"]), "R1", "GRANTED")
        assert len(both["fences"]) == 2, both
        c.client.ended = True
    print(f"{c.count} requests, answered in the words of VDA 5050 3.0", flush=True)


if __name__ == "__main__":
    main()
