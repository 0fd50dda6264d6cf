"""Channels whose challenges of one label are 1: what a verifier without that challenge would take."""

from __future__ import annotations

from independent_verifier.arithmetic import Elements, one
from independent_verifier.transcript import Refused
from independent_verifier.verifier import Verifier
from tensor_attack import Forgery
from tensor_words import Deaf, Sending


class Ones(Deaf):
    """The verifier's end."""

    label = ""

    def challenge(self, label: str) -> Elements:
        found = super().challenge(label)
        return one(self.degree) if label == self.label else found


class SendingOnes(Ones, Sending):
    """The prover's end of it."""


def sending_ones(degree: int, label: str) -> SendingOnes:
    made = SendingOnes(b"", degree)
    made.label = label
    return made


def passes(found: Forgery, label: str) -> bool:
    """Whether a verifier without the challenge of this label believes it."""
    verifier = Verifier(found.made, found.statement, found.proof.messages)
    channel = Ones(found.proof.messages, found.made.degree)
    channel.label = label
    verifier.transcript = channel
    try:
        verifier.check(b"")
    except Refused:
        return False
    return True
