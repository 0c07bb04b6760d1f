"""The jars of Pulsar's release."""

from pathlib import Path

from tests.maven import jars

VERSION = "4.2.4"
"""Of Pulsar, its Java client and what belongs to them."""

_POM = """<project>
<modelVersion>4.0.0</modelVersion>
<groupId>tallystick</groupId><artifactId>download</artifactId><version>1</version><packaging>pom</packaging>
<dependencyManagement><dependencies><dependency>
<groupId>org.apache.pulsar</groupId><artifactId>pulsar</artifactId><version>{version}</version>
<type>pom</type><scope>import</scope>
</dependency></dependencies></dependencyManagement>
<dependencies><dependency>
<groupId>org.apache.pulsar</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
</dependency></dependencies>
</project>"""


def pulsar_jars(artifact: str) -> Path:
    """A folder with the artifact of Pulsar's release and all that it needs at run time."""
    return jars(f"{artifact}-{VERSION}", _POM.format(artifact=artifact, version=VERSION))
