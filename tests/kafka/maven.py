"""The jars of Kafka's release."""

from pathlib import Path

from tests.maven import jars

VERSION = "4.1.1"

_POM = f"""<project>
<modelVersion>4.0.0</modelVersion>
<groupId>tallystick</groupId><artifactId>download</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies>
</project>"""


def kafka_jars() -> Path:
    """A folder with the broker and all that it needs at run time."""
    return jars(f"kafka-{VERSION}", _POM)
