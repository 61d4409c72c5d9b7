"""The service: python3 -m shelf"""

import sys

from shelf.server import Server

sys.exit(Server(sys.stdin.buffer, sys.stdout.buffer).serve())
