"""The pipeline file: YAML → frozen values that know their line, checked without a JVM."""

from tallystick.pipeline.clusters import Cluster, Credentials, FromTopics, ToTopic
from tallystick.pipeline.graph import Edge, Graph, TopicUse, reads, writes
from tallystick.pipeline.json_schema import json_schema
from tallystick.pipeline.loading import load
from tallystick.pipeline.pipeline import Pipeline
from tallystick.pipeline.schemas import Encoding, Reader, SchemaFile
from tallystick.pipeline.steps import (
    Column,
    Egress,
    Files,
    Function,
    Landing,
    OnFailure,
    Replication,
    Route,
    Source,
    Sql,
    Step,
    Table,
    Transform,
    TransformTest,
)

__all__ = [
    "Cluster",
    "Column",
    "Credentials",
    "Edge",
    "Egress",
    "Encoding",
    "Files",
    "FromTopics",
    "Function",
    "Graph",
    "Landing",
    "OnFailure",
    "Pipeline",
    "Reader",
    "Replication",
    "Route",
    "SchemaFile",
    "Source",
    "Sql",
    "Step",
    "Table",
    "ToTopic",
    "TopicUse",
    "Transform",
    "TransformTest",
    "json_schema",
    "load",
    "reads",
    "writes",
]
