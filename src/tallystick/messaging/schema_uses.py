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

    async def begin(self, schema: Schema[Any]) -> None:
        if not self._counts[id(schema)]:
            # Schemas of other people may open connections here.
            await asyncio.to_thread(schema.configure, self._settings)
        self._counts[id(schema)] += 1

    async def end(self, schema: Schema[Any]) -> None:
        self._counts[id(schema)] -= 1
        if not self._counts[id(schema)]:
            del self._counts[id(schema)]
            await asyncio.to_thread(schema.close)
