"""The pipeline file, described: every section, every key, what may stand there and what it means.

This is the one source of the check, the JSON Schema and the reference page.
"""

from tallystick import translate
from tallystick.model import schema_type
from tallystick.model.naming import KafkaNaming
from tallystick.pipeline import texts, words
from tallystick.pipeline.shapes import (
    Anything,
    Choice,
    ClusterName,
    Columns,
    Key,
    ListOf,
    MapOf,
    Number,
    Option,
    Path,
    ReaderChoice,
    SchemaPath,
    Secret,
    Section,
    Sql,
    Text,
    Truth,
    choice,
)

SCHEMA_TYPES = (
    schema_type.AVRO,
    schema_type.JSON_SCHEMA,
    schema_type.PROTOBUF,
    schema_type.PULSAR_JSON,
    schema_type.PROTOBUF_NATIVE,
    schema_type.EXTERNAL,
    schema_type.STRING,
    schema_type.BYTES,
)

_FRAMING = choice(words.Framing, carrier="transport", metadata="transport", prefix="payload", headers="header")
_FORMAT = Choice(
    SCHEMA_TYPES,
    schema_type.SchemaType,
    {"json": "JSON_SCHEMA", "jsonschema": "JSON_SCHEMA", "proto": "PROTOBUF", "text": "STRING"},
)

_LOSSY = [rule for rule in translate.CATALOGUE.values() if rule.severity is translate.Severity.LOSSY]
_LOSSES = Choice(tuple(sorted(rule.name for rule in _LOSSY)), others={rule.id.lower(): rule.name for rule in _LOSSY})

CREDENTIALS = Section(
    name="credentials",
    doc="Who we are: a user with a password, or a token; for TLS a CA to trust, and a certificate with its key.",
    keys=(
        Key(name="username", shape=Text("the name of a user"), doc="The user.", others=("user", "login")),
        Key(name="password", shape=Secret(), doc="The user's password."),
        Key(
            name="token", shape=Secret(), doc="A token instead, such as Pulsar's.", others=("jwt", "bearer", "api_key")
        ),
        Key(name="ca", shape=Path("a file"), doc="The certificates to trust.", others=("cafile", "truststore")),
        Key(name="certificate", shape=Path("a file"), doc="A certificate of our own.", others=("cert", "keystore")),
        Key(name="key", shape=Path("a file"), doc="Its key."),
        Key(name="key_password", shape=Secret(), doc="The password of the key."),
    ),
    at_most_one=("username", "token"),
    needs=(("password", "username"), ("key", "certificate"), ("key_password", "key")),
)

CLUSTER = Section(
    name="cluster",
    doc="A broker, its registry, and who we are to both.",
    keys=(
        Key(
            name="url",
            shape=Text("the URL of a broker", texts.broker_url),
            doc="`pulsar://HOST:PORT` (the embedded broker too), `pulsar+ssl://HOST:PORT` or `kafka://HOST:PORT`.",
            is_required=True,
            others=("broker", "bootstrap_servers", "brokers", "service_url", "address"),
        ),
        Key(
            name="registry",
            shape=Text("the URL of a registry", texts.registry_url),
            doc="`http://HOST:PORT` of the registry. Kafka needs one, and so does `framing: payload`.",
            others=("schema_registry", "registry_url"),
        ),
        Key(name="credentials", shape=CREDENTIALS, doc="Who we are to the broker.", others=("auth", "security")),
        Key(name="registry_credentials", shape=CREDENTIALS, doc="Who we are to the registry."),
        Key(
            name="framing",
            shape=_FRAMING,
            doc="Where records carry the ids of their schemas: as the transport has it, before the payload, or in a"
            " header of Kafka's.",
            default="transport",
        ),
        Key(
            name="naming",
            shape=choice(KafkaNaming),
            doc="How subjects are named after Kafka's topics.",
            default="TopicNameStrategy",
        ),
        Key(
            name="options",
            shape=MapOf(Option(), "option"),
            doc="Of Kafka's client library, such as `security.protocol` or `sasl.mechanism`. Those that hold secrets"
            " are references to the environment.",
            default="none",
            others=("properties", "config", "settings"),
        ),
    ),
)

_CLUSTER = Key(
    name="cluster",
    shape=ClusterName(is_asked=True),
    doc="Where the topic is. It may be left out where the file has one cluster.",
    default="the only one",
)
_END_FRAMING = Key(name="framing", shape=_FRAMING, doc="Of these records.", default="the cluster's")

FROM = Section(
    name="from",
    doc="Topics to read. A topic, or a list of topics, may stand here alone.",
    keys=(
        _CLUSTER,
        Key(
            name="topics",
            shape=ListOf(Text("the name of a topic"), is_one_enough=True),
            doc="One or several, by name.",
            others=("topic",),
        ),
        Key(
            name="pattern",
            shape=Text("a regular expression", texts.pattern),
            doc="Instead: a regular expression for whole names (Pulsar: `tenant/namespace/` may stand before).",
            others=("regex", "topics_pattern"),
        ),
        _END_FRAMING,
    ),
    short="topics",
    exactly_one=("topics", "pattern"),
)

TO = Section(
    name="to",
    doc="A topic to write to. Its name may stand here alone.",
    keys=(
        _CLUSTER,
        Key(name="topic", shape=Text("the name of a topic"), doc="The topic.", is_required=True, others=("topics",)),
        _END_FRAMING,
    ),
    short="topic",
)

EGRESS = Section(
    name="egress",
    doc="Where a route's records leave the mesh.",
    keys=(
        *TO.keys,
        Key(
            name="when",
            shape=Sql(),
            doc="Which records go here: SQL over `topic`, `key` and `properties`.",
            default="all of them",
            others=("where", "if", "filter"),
        ),
    ),
    short="topic",
)

INTERNAL = Section(
    name="internal",
    doc="The topic between the two ends of a route. Nothing else uses it. Its name may stand here alone.",
    keys=(
        Key(
            name="cluster",
            shape=ClusterName(),
            doc="Where the topic is.",
            default="that of the ingress",
        ),
        Key(name="topic", shape=Text("the name of a topic"), doc="The topic.", is_required=True),
    ),
    short="topic",
)

ON_FAILURE = Section(
    name="on_failure",
    doc="What becomes of a record that does not fit. One of the actions may stand here alone.",
    keys=(
        Key(
            name="action",
            shape=choice(
                words.FailureAction, dlq="quarantine", dead_letter="quarantine", skip="drop", ignore="drop", fail="stop"
            ),
            doc="`quarantine` keeps it whole with its finding, `republish` sends it to the topic in `to`, `drop` only"
            " counts it, `stop` ends the step before it.",
            default="quarantine",
            others=("do", "policy"),
        ),
        Key(
            name="to",
            shape=TO,
            doc="The topic for `republish` (needed) or `quarantine`.",
            default="of a quarantine: beside the step's own output",
            others=("topic",),
        ),
        Key(
            name="log",
            shape=choice(words.LogLevel, warn="warning", none="off"),
            doc="How loudly it is told.",
            default="warning",
            others=("log_level", "level"),
        ),
    ),
    short="action",
)

ENCODE = Section(
    name="encode",
    doc="How records are written. A file with a schema may stand here alone.",
    keys=(
        Key(
            name="subject",
            shape=Text("the name of a subject"),
            doc="Where the schema is registered, or, without `schema` and `derive`, found.",
            default="the topic's own",
        ),
        Key(
            name="format",
            shape=_FORMAT,
            doc="The schema's type.",
            default="by the ending of the file, else the type of the subject",
            others=("type", "as", "schema_type"),
        ),
        Key(
            name="schema",
            shape=SchemaPath(),
            doc="A file with the schema; it is registered unless it is there.",
            others=("file", "schema_file", "path"),
        ),
        Key(
            name="derive",
            shape=Truth(),
            doc="Makes the schema from that of the records, in `format`. What cannot be kept is a finding.",
            default="false",
        ),
    ),
    short="schema",
    at_most_one=("schema", "derive"),
    at_least_one=("subject", "format", "schema", "derive"),
    needs=(("derive", "format"),),
)

TEST = Section(
    name="test",
    doc="One record, and what has to become of it.",
    keys=(
        Key(name="name", shape=Text("a text"), doc="What the test shows.", default="its number"),
        Key(name="input", shape=Anything(), doc="The value of the record.", is_required=True, others=("given", "in")),
        Key(name="key", shape=Text("a text"), doc="Its key."),
        Key(name="topic", shape=Text("the name of a topic"), doc="Its topic.", default="the first in `from`"),
        Key(name="properties", shape=MapOf(Text(), "property"), doc="Its properties.", others=("headers",)),
        Key(name="output", shape=Anything(), doc="The value that comes out.", others=("expect", "expected", "out")),
        Key(
            name="outcome",
            shape=choice(words.Outcome, skip="skipped", dropped="skipped", fail="failed", error="failed"),
            doc="Instead: `skipped` by `where`, or `failed`, so that `on_failure` has it.",
        ),
    ),
    exactly_one=("output", "outcome"),
)

TABLE = Section(
    name="table",
    doc="Where rows land.",
    keys=(
        Key(name="format", shape=choice(words.TableFormat), doc="Its format.", is_required=True, others=("type",)),
        Key(
            name="place",
            shape=Path("a folder or the name of a table"),
            doc="A folder for Parquet, a folder or a name for Delta, a name for Iceberg. What has no slash is a name"
            " for the last two.",
            is_required=True,
            others=("path", "location", "name", "table"),
        ),
        Key(
            name="partition_by",
            shape=ListOf(Text("the name of a column"), is_one_enough=True),
            doc="Columns; they count when the table is made.",
            default="none",
            others=("partitions", "partitioned_by"),
        ),
    ),
)

_DESCRIPTION = Key(name="description", shape=Text(), doc="For people.", others=("doc", "comment"))
_ON_FAILURE = Key(
    name="on_failure",
    shape=ON_FAILURE,
    doc="What becomes of records that do not fit.",
    default="the file's, else `quarantine`",
    others=("on_error", "on", "dlq", "dead_letter"),
)
_STARTING = Key(
    name="starting",
    shape=Text("`earliest`, `latest` or a time", texts.moment),
    doc="Where the first run begins: `earliest`, `latest`, or a time. Later runs go on where the last one ended.",
    default="the file's, else `earliest`",
    others=("start", "offset", "startingPosition", "from_position", "start_at"),
)
_MAX_RECORDS = Key(
    name="max_records",
    shape=Number(1),
    doc="The most in a micro-batch.",
    default="no limit",
    others=("batch_size", "max_batch"),
)
_EVERY = Key(
    name="every_s",
    shape=Number(0, is_whole=False),
    doc="Seconds between the beginnings of two micro-batches.",
    default="as records come",
    others=("every", "interval", "trigger"),
)
_DELIVERY = Key(
    name="delivery",
    shape=choice(words.Delivery, at_least_once="at-least-once", exactly_once="exactly-once"),
    doc="`exactly-once` uses transactions on Kafka. Pulsar's protocol needs deduplication on the topic, and nothing"
    " else.",
    default="the file's, else `at-least-once`",
    others=("guarantee",),
)
_MULTI_SCHEMA = Key(
    name="multi_schema",
    shape=choice(words.MultiSchema, true="on", false="off"),
    doc="Whether the records may have different schemas.",
    default="the file's, else `auto`",
)
_READER = Key(
    name="reader",
    shape=ReaderChoice(),
    doc="The schema that records are read by: `latest`, a version, or a file.",
    default="`latest`",
    others=("schema", "input", "read_as"),
)
_EVOLVE = Key(
    name="evolve",
    shape=choice(words.Evolve),
    doc="What a new version means while the step runs: see [Landing](landing.md#new-versions-of-a-schema).",
    default="`never`",
)
_FROM = Key(name="from", shape=FROM, doc="What is read.", is_required=True, others=("source", "input", "topics"))
_TO = Key(name="to", shape=TO, doc="Where it goes.", is_required=True, others=("sink", "target", "output", "topic"))
_KEY = Key(
    name="key",
    shape=Sql(),
    doc="The key of what is written: SQL over the columns that are there before `select`.",
    default="the one that the record came with",
)
_READING = (_STARTING, _MAX_RECORDS, _EVERY)

ROUTE = Section(
    name="route",
    doc="A mesh: records come in at one end, are validated at one or both, and leave at the other.",
    keys=(
        _DESCRIPTION,
        Key(name="ingress", shape=FROM, doc="Where records come in.", is_required=True, others=("from", "source")),
        Key(
            name="internal",
            shape=INTERNAL,
            doc="The topic between the ends.",
            default="`NAME-mesh` on the cluster of the ingress",
            others=("through", "via"),
        ),
        Key(
            name="egress",
            shape=ListOf(EGRESS, is_one_enough=True),
            doc="Where records leave, one or several.",
            is_required=True,
            others=("to", "egresses", "sink"),
        ),
        Key(
            name="mode",
            shape=choice(words.RouteMode, half="split", none="off", all="both"),
            doc="Who validates: each end one half (`split`), one of them all, `both` all, or nobody (`off`).",
            default="`split`",
            others=("validate", "validation"),
        ),
        _ON_FAILURE,
        _DELIVERY,
        *_READING,
    ),
)

TRANSFORM = Section(
    name="transform",
    doc="Selects, changes and encodes anew.",
    keys=(
        _DESCRIPTION,
        _FROM,
        _READER,
        Key(
            name="where",
            shape=Sql(),
            doc="Which records: SQL over the fields of the value, and `topic`, `key`, `properties` and the times.",
            default="all of them",
            others=("filter", "when", "if"),
        ),
        Key(
            name="select",
            shape=Columns(),
            doc="The fields of what is written: a select list, or names with expressions.",
            default="`*`",
            others=("columns", "fields", "map", "mapping"),
        ),
        _KEY,
        Key(
            name="encode",
            shape=ENCODE,
            doc="How it is written.",
            default="by the latest schema of the topic in `to`",
            others=("schema", "format", "output"),
        ),
        Key(
            name="allow",
            shape=ListOf(_LOSSES, is_one_enough=True),
            doc="Conversions that lose something and are meant, by the names of the plan's findings.",
            default="none",
        ),
        _TO,
        _ON_FAILURE,
        _DELIVERY,
        *_READING,
        Key(name="tests", shape=ListOf(TEST), doc="Records, and what has to become of them.", others=("test",)),
    ),
)

FUNCTION = Section(
    name="function",
    doc="A Python callable: a record in, none or more out.",
    keys=(
        _DESCRIPTION,
        _FROM,
        _READER,
        Key(
            name="call",
            shape=Text("an import path", texts.import_path),
            doc="The callable, as `package.module:name`.",
            is_required=True,
            others=("function", "callable", "path", "class", "handler"),
        ),
        Key(
            name="per",
            shape=choice(words.Per, records="record", batches="batch", arrow="batch"),
            doc="Whether it is called with one record, or with a batch of Arrow.",
            default="`record`",
        ),
        Key(
            name="encode",
            shape=ListOf(ENCODE, is_one_enough=True),
            doc="How its output is written; several where records have different schemas.",
            default="by its type hints",
            others=("schema", "output", "schemas"),
        ),
        _MULTI_SCHEMA,
        _TO,
        _ON_FAILURE,
        _DELIVERY,
        *_READING,
    ),
)

FILES = Section(
    name="files",
    doc="Files to read. Those that come later are read when they come.",
    keys=(
        Key(
            name="path",
            shape=Path("a folder, or a path with * in it"),
            doc="A folder, or a path with `*` in it.",
            is_required=True,
            others=("paths", "folder", "place", "file"),
        ),
        Key(
            name="format",
            shape=choice(words.FileFormat, jsonl="json", ndjson="json"),
            doc="`json` has one record in a line.",
            is_required=True,
            others=("type",),
        ),
        Key(
            name="options",
            shape=MapOf(Option(), "option"),
            doc="Of Spark's reader, such as `header` or `sep` for CSV.",
            default="none",
        ),
    ),
)

SOURCE = Section(
    name="source",
    doc="Files into a topic.",
    keys=(
        _DESCRIPTION,
        Key(name="files", shape=FILES, doc="What is read.", is_required=True, others=("from", "input", "path")),
        _KEY,
        Key(
            name="encode",
            shape=ENCODE,
            doc="How rows are written; with `derive` the schema is made from their columns.",
            default="by the latest schema of the topic in `to`",
            others=("schema", "output"),
        ),
        _MULTI_SCHEMA,
        _TO,
        _ON_FAILURE,
        _DELIVERY,
        _MAX_RECORDS,
        _EVERY,
    ),
)

REPLICATION = Section(
    name="replication",
    doc="Topics of one cluster to another, with their schemas. What the target refuses is waited for.",
    keys=(
        _DESCRIPTION,
        Key(name="from", shape=ClusterName(), doc="The cluster that has them.", is_required=True, others=("source",)),
        Key(
            name="to",
            shape=ListOf(ClusterName(), is_one_enough=True),
            doc="The cluster, or the clusters, that get them.",
            is_required=True,
            others=("target", "targets"),
        ),
        Key(
            name="topics",
            shape=ListOf(Text("the name of a topic"), is_one_enough=True),
            doc="One or several, by name.",
            others=("topic",),
        ),
        Key(
            name="pattern",
            shape=Text("a regular expression", texts.pattern),
            doc="Instead: a regular expression for whole names.",
            others=("regex",),
        ),
        Key(
            name="rename",
            shape=Text("a name with {topic} in it", texts.renaming),
            doc="The topic's name at the target, with `{topic}` for the one that it has.",
            default="`{topic}`",
        ),
        Key(
            name="direction",
            shape=choice(words.ReplicationDirection, both="two-way"),
            doc="`two-way` also brings what is written at the target back; nothing goes round.",
            default="`one-way`",
        ),
        _DELIVERY,
        *_READING,
    ),
    exactly_one=("topics", "pattern"),
)

LANDING = Section(
    name="landing",
    doc="Topics into a table: see [Landing topics in tables](landing.md).",
    keys=(
        _DESCRIPTION,
        _FROM,
        _READER,
        _EVOLVE,
        Key(name="table", shape=TABLE, doc="Where rows land.", is_required=True, others=("to", "sink", "output")),
        _ON_FAILURE,
        *_READING,
    ),
)

STEPS = {
    "routes": ROUTE,
    "transforms": TRANSFORM,
    "functions": FUNCTION,
    "sources": SOURCE,
    "replications": REPLICATION,
    "landings": LANDING,
}

FILE = Section(
    name="pipeline",
    doc="A pipeline: clusters, and the steps that run on them.",
    keys=(
        Key(
            name="name", shape=Text("a name", texts.name), doc="Of the whole.", default="the file's, without its ending"
        ),
        _DESCRIPTION,
        Key(
            name="state",
            shape=Path("a folder"),
            doc="The folder for all that steps remember, checkpoints first; each step has a folder of its name in it.",
            default="`tally-state`",
            others=("checkpoint", "checkpoints", "checkpoint_location"),
        ),
        Key(
            name="clusters",
            shape=MapOf(CLUSTER, "cluster", are_names=True),
            doc="Brokers with their registries.",
            is_required=True,
            others=("cluster", "connections"),
        ),
        *(
            Key(name=name, shape=MapOf(section, section.name, are_names=True), doc=section.doc)
            for name, section in STEPS.items()
        ),
        Key(name="on_failure", shape=ON_FAILURE, doc="Of every step that has none.", default="`quarantine`"),
        Key(name="starting", shape=_STARTING.shape, doc="Of every step that has none.", default="`earliest`"),
        Key(name="delivery", shape=_DELIVERY.shape, doc="Of every step that has none.", default="`at-least-once`"),
        Key(name="multi_schema", shape=_MULTI_SCHEMA.shape, doc="Of every step that has none.", default="`auto`"),
    ),
    at_least_one=tuple(STEPS),
)
