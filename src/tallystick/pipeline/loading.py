"""load: a pipeline file → values, or everything that is wrong with it."""

import re
from pathlib import Path

from yaml.nodes import MappingNode, Node

from tallystick.errors import InvalidPipeline
from tallystick.finding import Place
from tallystick.pipeline import agreement
from tallystick.pipeline.building import Builder, Defaults
from tallystick.pipeline.checking import Checker, Part
from tallystick.pipeline.clusters import Cluster
from tallystick.pipeline.description import FILE, STEPS
from tallystick.pipeline.environment import Environ
from tallystick.pipeline.findings import FILE_UNREADABLE, Findings
from tallystick.pipeline.nodes import MAX_CHARACTERS, compose
from tallystick.pipeline.pipeline import Pipeline
from tallystick.pipeline.steps import Step

_STATE = "tally-state"
_NAME = "pipeline"


def load(source: Path | str, environ: Environ) -> Pipeline:
    """The pipeline that a file (a `Path`) or a text (a `str`) describes.

    `environ` has the variables that `${NAME}` refers to. With None nobody knows them: references stay as they are
    written and are not checked, which is enough to look at a file, or to run its tests, where its secrets are not.
    Schema files that the pipeline names are read. Raises `InvalidPipeline` with all findings at once.
    """
    findings = Findings()
    file = str(source) if isinstance(source, Path) else None
    text = _read(source, findings) if isinstance(source, Path) else _given(source, findings)
    root = None if text is None else compose(text, findings)
    if root is not None:
        folder = source.absolute().parent if isinstance(source, Path) else Path.cwd()
        name = _named_after(source) if isinstance(source, Path) else _NAME
        made = _pipeline(root, environ, findings, file, folder, name)
        if made is not None and len(findings) == 0:
            return made
    raise InvalidPipeline(file, findings.in_order())


def _pipeline(
    root: Node, environ: Environ, findings: Findings, file: str | None, folder: Path, name: str
) -> Pipeline | None:
    names = _cluster_names(root)
    checked = Checker(findings, environ, names).check(root, FILE)
    if checked.value is None:
        return None
    builder = Builder(findings, names, folder, Defaults.of(checked))
    clusters = _clusters(checked, builder, findings)
    # Without a cluster there are no topics, and that is told already.
    steps = _steps(checked, builder) if names else ()
    agreement.check_steps(clusters, steps, findings)
    return Pipeline(
        name=checked.plain("name") or name,
        file=file,
        state=builder.path(checked.plain("state") or _STATE),
        clusters=clusters,
        steps=steps,
        description=checked.plain("description"),
    )


def _cluster_names(root: Node) -> list[str]:
    """Known before anything is checked, so that a mistake in a cluster makes no second one where it is named."""
    if not isinstance(root, MappingNode):
        return []
    named = [value for key, value in root.value if key.value == "clusters" and isinstance(value, MappingNode)]
    return [str(key.value) for value in named for key, _ in value.value]


def _clusters(checked: Part, builder: Builder, findings: Findings) -> dict[str, Cluster]:
    section = checked.get("clusters")
    clusters = {}
    for name, part in () if section is None else section.items():
        if part.is_sound:
            clusters[name] = builder.cluster(name, part)
            if part.value["url"].is_known:
                agreement.check_cluster(clusters[name], findings)
    return clusters


def _steps(checked: Part, builder: Builder) -> tuple[Step, ...]:
    sections = [(name, section) for name in STEPS if (section := checked.get(name)) is not None]
    return tuple(
        builder.step(section, name, part)
        for section, steps in sections
        for name, part in steps.items()
        if part.is_sound
    )


def _given(text: str, findings: Findings) -> str | None:
    if "\n" in text or not text.endswith((".yaml", ".yml")):
        return text
    findings.add(FILE_UNREADABLE, Place("", 1, 1), "this text is the name of a file", "give files as a pathlib.Path")
    return None


def _named_after(path: Path) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._")[:100] or _NAME


def _read(path: Path, findings: Findings) -> str | None:
    try:
        # One character may have four bytes.
        with path.open("rb") as stream:
            content = stream.read(MAX_CHARACTERS * 4 + 1)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        at = Place("", content.count(b"\n", 0, e.start) + 1, e.start - content.rfind(b"\n", 0, e.start))
        findings.add(FILE_UNREADABLE, at, "this is no text in UTF-8", "save the file as UTF-8")
    except FileNotFoundError:
        findings.add(FILE_UNREADABLE, Place(""), "there is no such file", "correct the path")
    except OSError as e:
        findings.add(FILE_UNREADABLE, Place(""), f"the file cannot be read: {e.strerror or e}", "correct the path")
    return None
