"""The version of this program, for whoever must not import more than that."""

__version__ = "0.1.0"
