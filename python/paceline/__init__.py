"""Coded training of several models on workers that are slow or fail (docs/python.md)."""

from ._paceline import (
    Code,
    Decoding,
    Run,
    Scheme,
    Simulation,
    TunedScheme,
    Tuning,
    __version__,
    codes,
    load_profile,
    schemes,
    simulate,
    train,
    tune,
)

__all__ = [
    "Code",
    "Decoding",
    "Run",
    "Scheme",
    "Simulation",
    "TunedScheme",
    "Tuning",
    "__version__",
    "codes",
    "load_profile",
    "schemes",
    "simulate",
    "train",
    "tune",
]
