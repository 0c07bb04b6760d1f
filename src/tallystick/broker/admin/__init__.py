"""The broker for those who administer it: plain calls from any thread, authorised and written to the journal."""

from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.admin.messages import Messages
from tallystick.broker.admin.namespaces import Namespaces
from tallystick.broker.admin.subscriptions import Subscriptions
from tallystick.broker.admin.tenants import Tenants
from tallystick.broker.admin.topics import Topics, TopicSettings
from tallystick.broker.broker import Broker
from tallystick.registry.service import Registry


class BrokerAdmin:
    """Answers from `start`, which the event loop calls, to `close`."""

    def __init__(self, broker: Broker, registry: Registry) -> None:
        self.calls = LoopCalls()
        self.tenants = Tenants(broker, registry, self.calls)
        self.namespaces = Namespaces(broker, registry, self.calls)
        self.topics = Topics(broker, registry, self.calls)
        self.topic_settings = TopicSettings(broker, registry, self.calls)
        self.subscriptions = Subscriptions(broker, registry, self.calls)
        self.messages = Messages(broker, self.calls)

    def start(self) -> None:
        self.calls.open()

    def close(self) -> None:
        self.calls.close()
