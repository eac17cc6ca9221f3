"""Takes a lock and prints the library's version."""

import asyncio
import os

import mortise


async def take(client: mortise.Client) -> None:
    async with client.lock("packaging", timeout=5) as hold:
        assert hold.is_held


with mortise.Client(os.environ["MORTISE_TEST_URL"]) as client:
    with client.lock("packaging", timeout=5) as hold:
        assert hold.token > 0
    asyncio.run(take(client))
print(mortise.__version__)
