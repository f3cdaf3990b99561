"""Byte channels, and the wires that split them in two lanes: the SDK's and the express one."""
