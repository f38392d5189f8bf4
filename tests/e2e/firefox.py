"""Firefox by its own remote protocol (Marionette): a few commands over a local socket."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds for a browser to start on a busy machine


def program() -> str | None:
    """The browser's program, or nothing."""
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


@dataclass
class Firefox:
    """One session; answers come in the order of the commands."""

    connection: socket.socket
    sent: int = 0

    def ask(self, command: str, **parameters: Any) -> Any:
        self.sent += 1
        message = json.dumps([0, self.sent, command, parameters]).encode()
        self.connection.sendall(b"%d:%b" % (len(message), message))
        _, _, error, answer = self.answer()
        assert error is None, error
        return answer

    def answer(self) -> Any:
        """One message: its length, a colon, JSON."""
        size = b""
        while not size.endswith(b":"):
            size += self.connection.recv(1)
        left, text = int(size[:-1]), b""
        while len(text) < left:
            text += self.connection.recv(left - len(text))
        return json.loads(text)

    def open(self, page: Path) -> None:
        self.ask("WebDriver:Navigate", url=page.as_uri())

    def run(self, script: str) -> Any:
        """What the script returns."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=[])["value"]


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A browser of its own, with a fresh profile in `folder`; ended when it is done with."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    command = [program(), "--headless", "--marionette", "--no-remote", "--profile", folder]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            with _connected(port) as connection:
                session = Firefox(connection)
                session.answer()  # its greeting
                session.ask("WebDriver:NewSession")
                yield session
        finally:
            process.terminate()


def _connected(port: int) -> socket.socket:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), PATIENCE)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.3)
