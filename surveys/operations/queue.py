"""The Celery broker, asked directly."""

from typing import Any

from amqp.exceptions import ChannelError
from celery import current_app

TIMEOUT_SECONDS = 2


def queue_depth() -> int:
    """Return how many tasks wait for a worker. Raises what the broker's client raises where it does not answer."""
    queue = current_app.conf.task_default_queue
    with current_app.connection_for_read() as connection:
        options = {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
        connection.transport_options = {**(connection.transport_options or {}), **options}
        connection.ensure_connection(max_retries=1, timeout=TIMEOUT_SECONDS)
        channel: Any = connection.default_channel
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except ChannelError:  # an empty Redis list does not exist
            return 0
