"""Where a load test takes place."""

from dataclasses import dataclass

from surveys.operations.processes.supervisor import Supervisor
from surveys.rehearsal.stage import Control


@dataclass(frozen=True)
class LoadSite:
    """The app, the marketplace with its control API, and the processes they run in."""

    app_url: str
    marketplace_url: str
    control: Control
    supervisor: Supervisor
