"""The supervisor's side of Prefect's control protocol, spoken to the engine in this same process.

Prefect's engine connects back to a loopback port when it has installed its SIGTERM handler. A byte sent there tells it
what the SIGTERM that follows shall mean; it acknowledges the byte when it can act on it. Only what the protocol's first
version has is used: the greeting of later versions is read and left unanswered, as they allow.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import threading
import time

CANCEL = b"c"
"""The engine takes the run through Cancelling to Cancelled and runs its hooks."""

RELINQUISH = b"q"
"""The engine stops and leaves the run's next state to the driver."""

_ACKNOWLEDGED = b"a"
_LONGEST_TOKEN = 200


class ControlChannel:
    """Listens on a loopback port of its own; ``environment`` tells the engine where."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(16)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._engine: socket.socket | None = None
        self._connected = threading.Event()
        self.environment = {
            "PREFECT__CONTROL_PORT": str(self._listener.getsockname()[1]),
            "PREFECT__CONTROL_TOKEN": self._token,
        }
        threading.Thread(target=self._accept, name="slurmtui-control", daemon=True).start()

    @property
    def connected(self) -> bool:
        """Whether the engine has come up: from then on SIGTERM is handled by it."""
        return self._connected.is_set()

    def tell(self, intent: bytes, seconds: float) -> bool:
        """Tell the engine what the coming SIGTERM means; True when it acknowledged within ``seconds``."""
        engine, until = self._engine, time.monotonic() + seconds
        if engine is None:
            return False
        try:
            engine.sendall(intent)
            while (left := until - time.monotonic()) > 0:
                engine.settimeout(left)
                said = engine.recv(1)
                if said == _ACKNOWLEDGED:
                    return True
                if not said:
                    return False
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Listen no more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # closing alone does not wake the thread that waits for a call
        for end in (self._listener, self._engine):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.close()

    def _accept(self) -> None:
        while not self.connected:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            caller.settimeout(5)
            if hmac.compare_digest(_line(caller), self._token.encode()):
                self._engine = caller
                self._connected.set()
            else:
                caller.close()


def _line(caller: socket.socket) -> bytes:
    """What the caller says up to a newline, byte by byte so that nothing behind it is swallowed."""
    said = bytearray()
    with contextlib.suppress(OSError):
        while len(said) < _LONGEST_TOKEN:
            byte = caller.recv(1)
            if byte in {b"", b"\n"}:
                break
            said += byte
    return bytes(said)
