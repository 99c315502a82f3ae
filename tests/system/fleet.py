"""fleet.py - fleets of simulated robots over a real broker: as many as `--count` says, each at its rate, not all
in the same moment; a count above the limit is refused.
"""
import collections
import time

from mqtt import Client
from rig import Rig
from waiting import limit_s, pass_time

ROBOTS = 500
SLOT_S = 0.02
LISTEN_S = 4


def spread():
    """Telemetry once a second, of both sides."""
    slots, received = collections.Counter(), collections.Counter()

    def take(topic, _payload):
        slots[int(time.time() / SLOT_S)] += 1
        received[topic] += 1

    with Rig() as rig:
        listener = Client(rig.broker_port, "listener", clean=True, topics=["tandem/v1/+/+/telemetry"], on_message=take)
        assert listener.subscribed.wait(limit_s(10))
        fleet = rig.start("robot", "--kind", "kinematic", "--count", ROBOTS, "--telemetry-rate", 1)
        rig.wait(lambda: len(received) == 2 * ROBOTS, "all robots", 60)
        pass_time(1)
        slots.clear()
        received.clear()
        pass_time(LISTEN_S)
        listener.ended = True
        messages = sum(slots.values())
        assert fleet.poll() is None
        assert len(received) == 2 * ROBOTS, f"telemetry of {len(received)} of {2 * ROBOTS}"
        assert max(received.values()) <= LISTEN_S + 2, f"one spoke {max(received.values())} times"
        share = max(slots.values()) / messages
        assert share < 0.12, f"{share:.2f} of what {LISTEN_S} s brought came within {SLOT_S} s"
        print(f"{messages} messages in {len(slots)} of {LISTEN_S / SLOT_S:.0f} slots, at most {max(slots.values())} in one")


def most():
    """10 000 robots are the limit, and all of them publish."""
    received = set()
    with Rig() as rig:
        refused = rig.start("robot", "--count", 10001)
        assert refused.wait(limit_s(20)) == 2, "10001 robots"
        listener = Client(rig.broker_port, "listener", clean=True, topics=["tandem/v1/+/+/telemetry"],
                          on_message=lambda topic, _payload: received.add(topic))
        assert listener.subscribed.wait(limit_s(10))
        rig.start("robot", "--kind", "kinematic", "--count", 10000, "--telemetry-rate", 0.1)
        rig.wait(lambda: len(received) == 20000, "all robots", 120)
        listener.ended = True


spread()
most()
