"""Which of several broken rules requests are refused for: it must be one order of rules, whatever the request."""

import collections
import graphlib


class Precedence:
    """Rules that were seen to go before others."""

    def __init__(self):
        self.named = collections.Counter()  # how many requests were refused for each rule
        self._before = collections.defaultdict(set)  # of each rule

    def note(self, named, faults):
        """A request was refused for the rule `named`, and broke those of the faults."""
        self.named[named] += 1
        for fault in faults:
            if fault.rule != named:
                self._before[fault.rule].add(named)

    def never_named(self):
        """Rules that were broken, but never those that a request was refused for."""
        return set(self._before) - set(self.named)

    def cycle(self):
        """Rules of which each was seen before the next, or None."""
        try:
            graphlib.TopologicalSorter(self._before).prepare()
        except graphlib.CycleError as error:
            return error.args[1]
        return None

    def order(self):
        """The rules in an order that agrees with all that was seen."""
        return list(graphlib.TopologicalSorter(self._before).static_order())
