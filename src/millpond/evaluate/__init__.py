"""Prequential evaluation: the loop, label schedules, metrics, floors, checkpoints and results."""
