"""Ways to show an answer: one module each, all of them pure functions from values to text."""

from tallystick.cli.data_report import DataReport
from tallystick.cli.faults import Fault
from tallystick.cli.report import Report


def document(output: str, answer: Report | DataReport | Fault) -> str:
    """An answer for programs. Only the module that is asked for is loaded."""
    match output:
        case "json":
            from tallystick.cli.output import json_yaml

            return json_yaml.as_json(json_yaml.as_dict(answer))
        case "yaml":
            from tallystick.cli.output import json_yaml

            return json_yaml.as_yaml(json_yaml.as_dict(answer))
        case "github":
            from tallystick.cli.output import github

            return github.render(answer)
        case "gitlab":
            from tallystick.cli.output import gitlab

            return gitlab.render(answer)
        case "junit":
            from tallystick.cli.output import junit

            return junit.render(answer)
    raise AssertionError(output)
