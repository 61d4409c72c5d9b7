"""A recording proxy on loopback that real command-line harnesses talk to, in front of any endpoint."""
