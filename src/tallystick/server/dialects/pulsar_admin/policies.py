"""The schema policies of namespaces and topics."""

from collections.abc import Callable
from typing import Any

from tallystick.model.naming import namespace_named
from tallystick.model.settings import TOPIC_DEFAULTS, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.registry import policies
from tallystick.registry.service import Registry
from tallystick.server.dialects.pulsar_admin import bodies
from tallystick.server.dialects.pulsar_admin.asked import done, nothing_set
from tallystick.server.dialects.pulsar_admin.schemas import topic_subject
from tallystick.server.http import Handler, MalformedRequest, Request, Response, as_json

_Level = Callable[[Request], tuple[Subject | None, str | None]]


def of_namespace(request: Request) -> tuple[None, str]:
    return None, namespace_named(request.path["tenant"], request.path["namespace"])


def of_topic(request: Request) -> tuple[Subject, None]:
    return topic_subject(request), None


class Policies:
    """Handlers for one level."""

    def __init__(self, registry: Registry, level: _Level) -> None:
        self._registry = registry
        self._level = level

    def strategy(self, request: Request) -> Response:
        settings = self._settings(request)
        if settings.strategy is not None:
            return Response(200, as_json(str(settings.strategy)))
        return nothing_set() if self._level is of_topic else Response(200, as_json("UNDEFINED"))

    def set_strategy(self, request: Request) -> Response:
        return self._change(request, strategy=bodies.strategy_of(request.json()))

    def remove_strategy(self, request: Request) -> Response:
        return self._change(request, strategy=None)

    def auto_update_strategy(self, request: Request) -> Response:
        settings = self._in_force(request)
        strategy = Strategy.ALWAYS_INCOMPATIBLE if settings.auto_update is False else settings.strategy
        assert strategy is not None
        return Response(200, as_json(bodies.auto_update_name(strategy)))

    def set_auto_update_strategy(self, request: Request) -> Response:
        strategy = bodies.auto_update_strategy_of(request.json())
        if strategy is Strategy.ALWAYS_INCOMPATIBLE:
            return self._change(request, auto_update=False)
        return self._change(request, auto_update=True, strategy=strategy)

    def flag(self, name: str) -> Handler:
        """A yes-or-no setting: what counts, or on a topic without `applied=true` what is set there."""

        def answer(request: Request) -> Response:
            value = getattr(self._settings(request), name)
            if value is None and self._level is of_namespace:
                value = getattr(self._in_force(request), name)
            return Response(200, as_json(bool(value)))

        return answer

    def set_flag(self, name: str) -> Handler:
        def change(request: Request) -> Response:
            value = request.json()
            if not isinstance(value, bool):
                raise MalformedRequest("send true or false")
            return self._change(request, **{name: value})

        return change

    def remove_flag(self, name: str) -> Handler:
        return lambda request: self._change(request, **{name: None})

    def _settings(self, request: Request) -> Settings:
        if request.flag("applied"):
            return self._in_force(request)
        subject, namespace = self._level(request)
        return policies.own(self._registry, subject, namespace, caller=request.caller)

    def _in_force(self, request: Request) -> Settings:
        subject, namespace = self._level(request)
        return policies.in_force(self._registry, subject, namespace, TOPIC_DEFAULTS, caller=request.caller)

    def _change(self, request: Request, **changes: Any) -> Response:
        subject, namespace = self._level(request)
        policies.change(self._registry, request.caller, changes, subject, namespace)
        return done()
