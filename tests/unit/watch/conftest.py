"""The command line, for tests of this folder."""

from __future__ import annotations

from command_line import call as call
