"""Cases call the command line in this process."""

from command_line import call as call
