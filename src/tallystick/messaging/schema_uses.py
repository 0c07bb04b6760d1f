"""Who uses a schema: several producers and consumers may share one, and it is closed after the last of them."""

import asyncio
from collections import Counter
from typing import Any

from tallystick.serde.schema import RegistrySettings, Schema


class SchemaUses:
    """Of one client. All of it runs on the engine's event loop."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._settings = settings
        self._counts: Counter[int] = Counter()
        self._one_at_a_time = asyncio.Lock()

    async def begin(self, schema: Schema[Any]) -> None:
        async with self._one_at_a_time:
            if not self._counts[id(schema)]:
                # Schemas of other people may open connections here.
                await asyncio.to_thread(schema.configure, self._settings)
            self._counts[id(schema)] += 1

    async def end(self, schema: Schema[Any]) -> None:
        async with self._one_at_a_time:
            self._counts[id(schema)] -= 1
            if not self._counts[id(schema)]:
                del self._counts[id(schema)]
                await asyncio.to_thread(schema.close)
