"""Whether two nodes say the same, also where they are recursive."""

from tallystick.formats.json_schema.node import Node

Pair = tuple[Node, Node]


class Sameness:
    """Answers for one comparison; what was found out once is remembered."""

    def __init__(self) -> None:
        self._same: set[Pair] = set()
        self._different: set[Pair] = set()

    def __call__(self, a: Node, b: Node) -> bool:
        if a is b:
            return True
        if a.key != b.key:
            return False
        return not a.has_refs or self._targets_are_same(a, b)

    def _targets_are_same(self, a: Node, b: Node) -> bool:
        if (a, b) in self._same or (a, b) in self._different:
            return (a, b) in self._same
        # All pairs on the way are taken as the same until one is not: then none of them is proven.
        seen: set[Pair] = set()
        stack = [(a, b)]
        while stack:
            pair = stack.pop()
            if pair in seen or pair in self._same or pair[0] is pair[1]:
                continue
            if pair[0].key != pair[1].key or pair in self._different:
                self._different.add((a, b))
                return False
            seen.add(pair)
            stack.extend(zip(pair[0].refs(), pair[1].refs(), strict=True))
        self._same |= seen
        return True
