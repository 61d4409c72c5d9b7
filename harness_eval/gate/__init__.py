"""The regression gate: a run against a baseline, with three verdicts and what they rest on."""
