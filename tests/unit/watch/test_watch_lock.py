"""Two processes do not spoil each other's folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from whygap._watch.lock import locked
from whygap.errors import ResultError

HOLDER = """
import sys, time
from pathlib import Path
from whygap._watch.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_second_process_is_told_who_is_at_work(tmp_path, holder):
    with pytest.raises(ResultError) as caught, locked(tmp_path):
        pass
    assert str(caught.value) == (
        f"Another whygap watch is at work in '{tmp_path}'. Got process {holder.pid} on "
        f"{socket.gethostname()}. Wait until it is done, or name another folder with --into."
    )


def test_a_killed_process_leaves_no_lock(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path):
        said = (tmp_path / "lock").read_text()
        assert said == f"process {os.getpid()} on {socket.gethostname()}\n"


def test_the_lock_goes_with_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    with locked(tmp_path):
        pass
