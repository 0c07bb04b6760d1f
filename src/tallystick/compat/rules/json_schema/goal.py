"""Goal: one thing to be shown, that every value of a writer fits a node of the reader."""

from typing import NamedTuple

from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.node import Node


class Goal(NamedTuple):
    writer: Writer
    reader: Node
