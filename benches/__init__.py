"""Speed and size beside the official SDK, in one run: `python -m benches [names] [--quick]`.

Every bench checks that both sides give equal results before it times anything, takes the sides in turn, and reports
ratios: absolute figures of a shared machine say little. `README.md` has the figures of one run and where a call's time
goes.
"""
