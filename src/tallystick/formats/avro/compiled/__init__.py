"""Functions made for one schema: Python source that checks and writes, or reads, in one pass.

They take what is usual and raise one of `MISFITS` for everything else, which the general codec then writes, reads or
refuses: what they do take must come out as the general codec has it.
"""

from tallystick.formats.avro.compiled.reading import reader_of
from tallystick.formats.avro.compiled.source import MISFITS
from tallystick.formats.avro.compiled.writing import writer_of

__all__ = ["MISFITS", "reader_of", "writer_of"]
