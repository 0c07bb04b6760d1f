"""The page of the pipeline file and its JSON Schema, from the description that the check reads too."""

import json
from collections.abc import Iterator

from tallystick.pipeline import shapes
from tallystick.pipeline.description import FILE
from tallystick.pipeline.findings import CATALOGUE
from tallystick.pipeline.json_schema import json_schema
from tallystick.pipeline.shapes import Key, Section, Shape

SCHEMA_FILE = "pipeline.schema.json"

_INTRODUCTION = f"""# The pipeline file

One YAML file names clusters, and the steps that run on them. It is read and checked without Java and without a
cluster: every mistake is told at once, each with its line, its column and what to do about it. No command runs a file
yet: what is here is its form and its check.

`shop.yaml`:

```yaml
# yaml-language-server: $schema={SCHEMA_FILE}
clusters:
  shop:
    url: ${{SHOP_URL:-pulsar://127.0.0.1:6650}}
    registry: ${{SHOP_REGISTRY:-http://127.0.0.1:8080}}

transforms:
  paid-orders:
    from: orders
    where: status = 'paid'
    to: paid

landings:
  orders-table:
    from: orders
    table: {{format: parquet, place: tables/orders}}
```

## In an editor

[{SCHEMA_FILE}]({SCHEMA_FILE}) is the JSON Schema (draft 2020-12) of the file; the installed package prints it:

```console
$ python3 > {SCHEMA_FILE} -c 'if True:
>     import json
>     from tallystick.pipeline import json_schema
>     print(json.dumps(json_schema()))'
```

Editors with the YAML language server, such as VS Code with its YAML extension, complete and check a file whose first
line is the comment above. Names that are not there, secrets, variables, cycles and the files of schemas are looked at
by the check alone.

## From Python

`tallystick.pipeline.load(source, environ)` gives a `Pipeline`: a `Path` is a file, a `str` is a text. It raises
`InvalidPipeline`, whose `findings` have everything that is wrong.

`look.py`:

```python
from pathlib import Path

from tallystick.errors import InvalidPipeline
from tallystick.pipeline import Graph, load

shop = load(Path("shop.yaml"), environ={{}})
print([step.name for step in Graph(shop.clusters, shop.steps).order()])

try:
    load(Path("shop.yaml").read_text().replace("where:", "wher:").replace("parquet", "parkett"), environ={{}})
except InvalidPipeline as error:
    print(error)
```

```console
$ python3 look.py
['paid-orders', 'orders-table']
pipeline:10:5: there is no key `wher` here; did you mean `where`?
pipeline:16:21: 'parkett' is not one of `parquet`, `delta`, `iceberg`; did you mean `parquet`?
```

## Variables and secrets

`${{NAME}}` in a text stands for a variable of the environment, `${{NAME:-something}}` says what counts where it is not
set or empty, and `$${{` is a `${{` that is meant as it stands. Between braces a text with `${{…}}` has to be quoted.
Secrets (passwords, tokens, and options of Kafka's client with such names) cannot stand in the file: they are
`${{NAME}}` or `{{env: NAME}}`, with nothing around it. What a variable holds is never shown. With `environ=None`
variables are not looked at. The records of `tests` are taken as they stand.

## What is read of YAML

Mappings, lists, texts, numbers, `true` and `false`, anchors and aliases; no tags and no merge keys. `yes`, `no`, `on`,
`off`, `012` and `12:30` mean different things to different readers of YAML and have to be quoted, but for places that
take one of some words, such as `mode: off`.

Names of clusters and steps have up to 100 letters, digits and `.`, `_`, `-`. No two steps of a file have the same
name: it is the name of the step's folder in `state` and of its status. Paths that are relative begin at the folder of
the file.
"""

_FINDINGS = """## Findings

Ids stay the same; messages may change.
"""


def pipeline_page() -> str:
    parts = [_INTRODUCTION]
    parts += [_section(section, titles) for section, titles in _sections()]
    rows = [f"| `{rule}` | {sentence} |" for rule, sentence in CATALOGUE.items()]
    parts.append("\n".join([_FINDINGS, "| id | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def pipeline_schema() -> str:
    return json.dumps(json_schema(), indent=2) + "\n"


def _sections() -> list[tuple[Section, str]]:
    """Each once, in the order in which a reader meets them, with the keys that have it."""
    found: dict[str, tuple[Section, list[str]]] = {FILE.name: (FILE, [])}
    waiting = [FILE]
    while waiting:
        for key in waiting.pop(0).keys:
            inner = _section_in(key.shape)
            if inner is None:
                continue
            if inner.name not in found:
                found[inner.name] = (inner, [])
                waiting.append(inner)
            if key.name not in found[inner.name][1]:
                found[inner.name][1].append(key.name)
    return [(section, ", ".join(f"`{name}`" for name in names)) for section, names in found.values()]


def _section_in(shape: Shape) -> Section | None:
    match shape:
        case Section():
            return shape
        case shapes.ListOf():
            return _section_in(shape.item)
        case shapes.MapOf():
            return _section_in(shape.value)
        case _:
            return None


def _section(section: Section, names: str) -> str:
    title = "The whole file" if section is FILE else names
    rows = [
        f"| `{key.name}` | {_what(key.shape)} | {'needed' if key.is_required else key.default or ''} | {key.doc} |"
        for key in section.keys
    ]
    together = "".join(f"\n{sentence}\n" for sentence in _together(section))
    head = [
        f"## {title}\n",
        f"{section.doc}\n",
        "| key | what stands there | without it | meaning |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n" + together


def _together(section: Section) -> Iterator[str]:
    if section.exactly_one:
        yield f"Exactly one of {_named(section.exactly_one)}."
    if section.at_least_one:
        yield f"At least one of {_named(section.at_least_one)}."
    if section.at_most_one:
        yield f"At most one of {_named(section.at_most_one)}."
    if section.needs:
        yield " ".join(f"`{name}` needs `{other}`." for name, other in section.needs)


def _named(keys: tuple[str, ...]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def _what(shape: Shape) -> str:
    match shape:
        case Section():
            key: Key | None = None if shape.short is None else shape.key(shape.short)
            return "a mapping" if key is None else f"{_what(key.shape)}, or a mapping"
        case shapes.ListOf():
            return f"{_what(shape.item)}, or a list of them" if shape.is_one_enough else "a list"
        case shapes.Choice():
            return ", ".join(f"`{word}`" for word in shape.words)
        case _:
            return shape.expected
