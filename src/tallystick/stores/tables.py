"""The tables, the same on every database."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    false,
)

metadata = MetaData()

# Names are compared byte by byte, so that a prefix is a range of the index on every database.
_Name = String().with_variant(String(collation="C"), "postgresql")
_Serial = BigInteger().with_variant(Integer(), "sqlite")

scopes = Table(
    "scopes",
    metadata,
    Column("name", _Name, primary_key=True),
    comment="One row for the server ('') and one a namespace: what a change locks to see settled settings.",
)

counters = Table(
    "counters",
    metadata,
    Column("name", _Name, primary_key=True),
    Column("last", BigInteger, nullable=False),
    comment="The last schema id of each namespace, and the last entry of the journal. Never taken back.",
)

subjects = Table(
    "subjects",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("namespace", _Name, nullable=False),
    Column("name", _Name, nullable=False),
    Column("last_version", Integer, nullable=False, server_default="0"),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("modified_at", DateTime(timezone=True), nullable=False),
    Column("about", JSON, nullable=False),
    Column("live_types", String, nullable=False, server_default=""),
    Column("deleted_types", String, nullable=False, server_default=""),
    Column("described", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("namespace", "name"),
    # Whatever a listing asks for: the rows that a page skips are never read.
    Index(
        "subjects_listed",
        "namespace",
        "name",
        "live_types",
        "deleted_types",
        "described",
        postgresql_include=["id"],
    ),
    comment="live_types and deleted_types: the types of the versions in that state, each as /TYPE/.",
)

schemas = Table(
    "schemas",
    metadata,
    Column("namespace", _Name, primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("identity", LargeBinary, nullable=False),
    Column("guid", Uuid, nullable=False, index=True),
    Column("type", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("metadata", Text),
    Column("rule_set", Text),
    Column("properties", JSON, nullable=False),
    UniqueConstraint("namespace", "identity"),
)

versions = Table(
    "versions",
    metadata,
    Column("subject_id", ForeignKey("subjects.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("namespace", _Name, nullable=False),
    Column("schema_id", BigInteger, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("properties", JSON, nullable=False),
    Index("versions_of_schema", "namespace", "schema_id"),
)

schema_references = Table(
    "schema_references",
    metadata,
    Column("namespace", _Name, primary_key=True),
    Column("schema_id", BigInteger, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", String, nullable=False),
    Column("subject", _Name, nullable=False),
    Column("version", Integer, nullable=False),
    Column("target_namespace", _Name, nullable=False),
    Column("target_name", _Name, nullable=False),
    Index("references_to", "target_namespace", "target_name", "version"),
)

settings = Table(
    "settings",
    metadata,
    Column("namespace", _Name, primary_key=True),
    Column("subject", _Name, primary_key=True),
    Column("settings", JSON, nullable=False),
    comment="subject '' is the namespace's own row; namespace '' the server's.",
)

journal = Table(
    "journal",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String, nullable=False),
    Column("namespace", _Name),
    Column("subject", _Name),
    Column("data", JSON, nullable=False),
    Column("principal", String, nullable=False),
    Column("address", String),
    Column("at", DateTime(timezone=True), nullable=False),
)

pipelines = Table(
    "pipelines",
    metadata,
    Column("name", _Name, primary_key=True),
    Column("status", JSON, nullable=False),
    Column("principal", String, nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
    comment="What each pipeline last said of itself.",
)
