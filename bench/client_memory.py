"""The memory of a process that sends and receives many messages; run as a program, it is that process.

`python -m bench.client_memory URL MESSAGES` prints its resident memory in MiB at the end.
"""

import subprocess
import sys
from pathlib import Path
from threading import Thread
from uuid import uuid4

from bench.client_records import record, schema
from tallystick.connect.client import Client
from tallystick.serde import AvroSchema


def resident_mib_after(url: str, messages: int) -> float:
    command = [sys.executable, "-m", "bench.client_memory", url, str(messages)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    return float(done.stdout)


def _main(url: str, messages: int) -> None:
    topic, values = f"memory-{uuid4()}", [record(number) for number in range(1000)]
    with Client(url) as client:
        consumer = client.consumer(topic, "bench", AvroSchema(schema()), start="earliest")

        def consume() -> None:
            for _ in range(messages):
                message = consumer.receive(60)
                assert message.value["currency"] == "EUR"
                consumer.acknowledge(message)

        consuming = Thread(target=consume)
        consuming.start()
        with client.producer(topic, AvroSchema(schema())) as producer:
            for number in range(messages):
                producer.send_async(values[number % 1000])
            producer.flush()
        consuming.join()
        status = Path("/proc/self/status").read_text().splitlines()
        print(int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) / 1024)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
