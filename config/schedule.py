"""What beat sends, and how often. A task that nobody took before the next one is due is dropped."""

from typing import Any

DAY = 24 * 3600.0
MOVED_EVERY = 10  # seconds: what somebody hands in is looked at within two of these


def beat_schedule(*, sync_seconds: int, heartbeat_seconds: int) -> dict[str, dict[str, Any]]:
    """Return Celery's schedule; intervals are seconds."""
    return {
        "heartbeat": _every(heartbeat_seconds, "surveys.sync.heartbeat", expires=heartbeat_seconds),
        "sweep": _every(sync_seconds, "surveys.sync.sweep", expires=sync_seconds),
        "moved": _every(min(MOVED_EVERY, sync_seconds), "surveys.sync.sync_moved", expires=MOVED_EVERY),
        "score": _every(5.0 * sync_seconds, "surveys.sync.score_surveys", expires=sync_seconds),
        "pictures": _every(5.0 * sync_seconds, "surveys.sync.make_smaller_pictures", expires=sync_seconds),
        "forget_api_requests": _every(DAY, "surveys.sync.forget_api_requests"),
        "look_again": _every(DAY, "surveys.sync.look_again"),
        "tidy": _every(DAY, "surveys.sync.tidy"),
        "purge_workers": _every(DAY, "surveys.sync.purge_workers"),
        "forget_unused": _every(DAY, "marketplace.tasks.forget_unused"),
        "marketplace": _every(10.0, "marketplace.tasks.keep_time", expires=10),
    }


def _every(seconds: float, task: str, *, expires: int = 0) -> dict[str, Any]:
    options = {"options": {"expires": expires}} if expires else {}
    return {"task": task, "schedule": float(seconds), **options}
