"""Real command-line harnesses in the place of `agent.py`: black boxes whose requests pass a gateway."""
