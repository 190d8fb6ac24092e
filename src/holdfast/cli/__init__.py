"""The command `holdfast`."""
