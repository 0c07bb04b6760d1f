"""The process that runs protoc, so that a text that crashes or stalls it does not take ours along.

It reads lines from its input, each a folder and protoc's arguments separated by NUL, runs protoc in that
folder with its messages in the file `errors`, and answers each with a line that holds the exit code.
"""

import os
import resource
import sys
from contextlib import suppress

from grpc_tools import _protoc_compiler

MEMORY_BYTES = 2 << 30


def serve() -> None:
    # Where the limit is lower already, or the system knows none, protoc runs with what there is.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        folder, *arguments = line.rstrip(b"\n").split(b"\0")
        os.chdir(folder)
        exit_code = _run(arguments)
        os.chdir("/")
        os.write(1, b"%d\n" % exit_code)


def _run(arguments: list[bytes]) -> int:
    errors = os.open("errors", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.dup2(errors, 2)
    os.close(errors)
    exit_code: int = _protoc_compiler.run_main([b"protoc", *arguments])
    return exit_code


if __name__ == "__main__":
    serve()
