"""A board at the other end of a serial line: it answers frames as the executor does, and not as hardware does."""

from __future__ import annotations

import os
import threading
import tty
from pathlib import Path
from types import TracebackType

import numpy as np

from circuitize.backends.verilog.modes import MODE, Modal, Mode
from circuitize.backends.verilog.project import read_project
from circuitize.sims.rtl.session import session


class BoardLine:
    """A terminal whose name is `device`; what is written to it is a packet, whose answer is the executor's."""

    def __init__(self, folder: Path) -> None:
        self.project = read_project(folder)
        assert self.project.modal is not None
        self.modal: Modal = self.project.modal
        self.state = dict(self.project.vectors.initial)
        self.own, self.other = os.openpty()
        tty.setraw(self.other)
        self.device = os.ttyname(self.other)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> BoardLine:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.other)
        self._thread.join(10)
        os.close(self.own)

    def _serve(self) -> None:
        try:
            while True:
                self._answer()
        except OSError:  # The other end is closed.
            return

    def _answer(self) -> None:
        design = self.project.design
        into, out = sorted(design.buses, key=lambda bus: bus.output)
        word = into.data_bits // 8
        mode = Mode(int.from_bytes(self._taken(word), "little"))
        frame = {p.port: np.zeros((1, *p.format.shape), np.int64) for p in self.modal.entering()}
        frame[MODE] = np.array([mode])
        for stream in into.streams[1:]:
            if design.carries(stream, mode):
                own = np.frombuffer(self._taken(stream.beats * word), _kind(stream.pitch, stream.format.low))
                frame[stream.port] = own[: stream.format.size].astype(np.int64).reshape(1, *stream.format.shape)
        made = session(self.modal, frame, self.state)
        failed = bool(made.undefined[0])
        if not failed and mode in (Mode.WRITE, Mode.TRAIN):
            after = session(self.modal, {**_twice(frame), MODE: np.array([mode, Mode.READ])}, self.state)
            self.state = {name: after.outputs[name][1] for name in self.state}
        told = b""
        for stream in out.streams:
            if design.carries(stream, mode):
                values = made.outputs[stream.port][0] if stream.port else np.array(failed)
                sent = values.reshape(-1).astype(_kind(stream.pitch, stream.format.low)).tobytes()
                told += sent + bytes(stream.beats * word - len(sent))
        os.write(self.own, told)

    def _taken(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            taken += os.read(self.own, count - len(taken))
        return taken


def _kind(bits: int, low: int) -> str:
    return f"<{'i' if low < 0 else 'u'}{bits // 8}"


def _twice(frame: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([values, values]) for name, values in frame.items()}
