"""Writes the Python modules of our `.proto` files: `python -m tools.protocol`. A test fails where they are stale."""

import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent.parent / "src"
PROTO = Path("tallystick/wire/pulsar/pulsar.proto")
_HEADER = '# ruff: noqa\n# fmt: off\n# mypy: disable-error-code="type-arg"\n'


def generated(proto: Path) -> dict[Path, str]:
    """The texts of `_pb2.py` and `_pb2.pyi`, by their paths below the source root."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["protoc", f"--proto_path={ROOT}", f"--python_out={folder}", f"--pyi_out={folder}", str(proto)]
        if protoc.main(arguments) != 0:
            raise SystemExit(f"{proto} does not compile")
        names = [proto.with_name(f"{proto.stem}_pb2{suffix}") for suffix in (".py", ".pyi")]
        return {name: _HEADER + Path(folder, name).read_text() for name in names}


def main() -> None:
    for name, text in generated(PROTO).items():
        (ROOT / name).write_text(text)
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
