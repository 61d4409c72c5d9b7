"""Send one command to the service: python3 service/tell.py load shifts/01.csv"""

import socket
import sys

with socket.socket(socket.AF_UNIX) as line:
    try:
        line.connect("data/tally.sock")
    except OSError:
        sys.exit("tell: nobody listens on data/tally.sock")
    line.sendall(" ".join(sys.argv[1:]).encode() + b"\n")
    answer = b""
    while part := line.recv(65536):
        answer += part
print(answer.decode(), end="")
sys.exit(0 if not answer.startswith(b"refused") else 1)
