"""kinds.py - defines a kind of fault, and the table of kinds; the kinds themselves are in kinds_*.py."""
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
    http: str = ""  # members of its http settings: "listeners_max: 10"
    broker: str = ""  # lines of the broker's settings
    rate: float = 1.0  # of the load
    before: typing.Callable = None  # prepares the round, before the daemon starts
    after: typing.Callable = None  # continues after the round is judged, and adds to its results
    may_lose: bool = False  # acknowledged commands may be gone if the daemon reports it: play checks that it does
    journal: str = "whole"  # replay has the same bytes; "ids": the same commands
    history: str = "stays"  # readers agree; "vanishes": records that HTTP did not show may be gone; "lost": anything
    mounts: bool = False  # needs to mount a small disk


KINDS = {}


def kind(words, **options):
    def add(play):
        assert play.__name__ not in KINDS
        KINDS[play.__name__] = Kind(play.__name__, play, words, **options)
        return play
    return add
