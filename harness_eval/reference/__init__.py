"""The reference endpoint: a real HTTP server behind which a scripted agent, no language model, plays tasks' solutions.

It sees only the bytes that a model would see, understands a harness from its requests alone, and keeps nothing between
two requests. Couplings to particular harnesses can be planted in it, so that a suite that looks for them can be
measured. `process.serve` starts it beside the caller, `process.foreground` in the caller's own process.
"""
