"""What runs in a box beside a harness: a relay from the box's loopback to the gateway's socket, in two languages."""
