"""The protocol's own conformance suite, run against toolwire: a server, a client, and the runner that counts.

`make conformance` sets everything up and runs `python -m conformance`. What the suite has to say of each scenario, and
how many checks each has to pass, stands in `baseline.toml`.
"""
