"""kinds.py - what a kind of fault is, and the table of them; the kinds themselves stand in kinds_*.py."""
import dataclasses
import typing

USUAL = {"a": "ids", "b": "ids", "l": "link"}
NAMELESS = {"a": "ids", "nameless": "no_ids"}


@dataclasses.dataclass
class Kind:
    name: str
    play: typing.Callable
    words: str  # the fault, for people
    pairs: dict = dataclasses.field(default_factory=lambda: USUAL)  # {pair: style}, load.py
    options: dict = dataclasses.field(default_factory=dict)  # {pair: its options in the lab file}
    extra: str = ""  # lines of the lab file
    http: str = ""  # of its http settings: "listeners_max: 10"
    broker: str = ""  # lines of the broker's settings
    rate: float = 1.0  # of the load
    before: typing.Callable = None  # prepares the round, before the daemon starts
    after: typing.Callable = None  # goes on when the round is judged, and adds to what was found
    may_lose: bool = False  # what was acknowledged may be gone, if that is said: play checks that it is
    journal: str = "whole"  # replay has the same bytes; "ids": the same commands
    history: str = "stays"  # what readers were shown; "vanishes": what HTTP did not show may be gone; "lost": anything
    mounts: bool = False  # needs to mount a small disk


KINDS = {}


def kind(words, **options):
    def add(play):
        assert play.__name__ not in KINDS
        KINDS[play.__name__] = Kind(play.__name__, play, words, **options)
        return play
    return add
