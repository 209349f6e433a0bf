"""Class-aware first-in-first-out removal: the most represented class loses its oldest row."""

from __future__ import annotations

from millpond.policies.base import Banks, Details


def majority_class(banks: Banks, details: Details) -> int:
    """The most represented class of the long bank; ties to the larger (or smaller) code."""
    sign = 1 if details.class_ties == "larger" else -1
    return max(banks.long_counts, key=lambda label: (banks.long_counts[label], sign * label))


def remove_oldest_of_majority(banks: Banks, details: Details) -> int:
    # The bank is in order of arrival, and argmax gives the first.
    return int((banks.y[banks.long] == majority_class(banks, details)).argmax())
