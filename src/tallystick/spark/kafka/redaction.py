"""Keeps what only the cluster should know out of the texts of plans.

Spark itself leaves it out of everything but the plan of a stream, which shows the options of its source.
"""

from collections.abc import Mapping

from pyspark.sql import SparkSession

_SETTING = "spark.sql.redaction.string.regex"
_SECRETS = (
    r'(?<=(?:password|clientSecret)=")(?:[^"\\]|\\.)*(?=")',
    r"(?<=password -> )[\s\S]*?(?=, [\w.]+ -> |\),None)",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END",
)
_NAMES = ("kafka.sasl.jaas.config", "kafka.ssl.keystore.key")


def hide_secrets(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Adds to what the session leaves out of the texts that it shows, where the options have something to hide."""
    if not any(name in _NAMES or name.endswith("password") for name in options):
        return
    already = spark.conf.get(_SETTING, None)
    missing = [pattern for pattern in _SECRETS if pattern not in (already or "")]
    if missing:
        spark.conf.set(_SETTING, "|".join(([f"(?:{already})"] if already else []) + missing))
