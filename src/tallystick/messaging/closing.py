"""What producers and consumers have in common: they are closed once, by hand or at the end of a `with`."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from tallystick.messaging.engine import Engine
from tallystick.messaging.pending import Pending


class Closing(ABC):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_closing = False
        self.closed: Pending[None] = Pending()
        """Answered when it is closed."""

    @abstractmethod
    async def _close(self) -> None:
        """Once, on the engine's event loop."""

    def close(self) -> None:
        self.close_async().result()

    def close_async(self) -> Pending[None]:
        if not self._is_closing:
            self._is_closing = True
            self._engine.run(self._close(), self.closed)
        return self.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close_async()
