"""Write ``docker/grafana/dashboards`` and ``docs/boards.md`` from the boards; a test compares both.

Run ``python -m stack.grafana.write_boards`` after every change to a board.
"""

from __future__ import annotations

import sys
from pathlib import Path

from stack.grafana.cluster import CLUSTER
from stack.grafana.dashboard_json import DATASOURCE_UID, dashboard_json
from stack.grafana.fleet import FLEET
from stack.grafana.groups import GROUPS
from stack.grafana.panel import Board
from stack.grafana.plans import PLANS

ROOT = Path(__file__).resolve().parents[2]
BOARDS = (FLEET, CLUSTER, GROUPS, PLANS)
_HEAD = f"""# Grafana boards

Made from `stack/grafana` by `python -m stack.grafana.write_boards`, with Grafana's own SDK; the JSON lies in
`docker/grafana/dashboards`. `docker compose --profile grafana up` starts Grafana beside the rest, provisioned with
them, as `advisor_reader`: views and nothing else ([containers.md](containers.md#grafana)). **Grafana itself was not
started where this was made**; what is tested is that each panel's query, its macros expanded, answers the reader with
rows, within a second over 90 days of 12 clusters (`make test-views`).

In a Grafana of one's own (11.6 or newer): a PostgreSQL data source of uid `{DATASOURCE_UID}` with a login that has
the role `advisor_reader` ([sql/README.md](../sql/README.md)), then import the four files. All but the first have the
variable *Cluster*. The queries of the ten questions, without Grafana, stand in [questions.md](questions.md).
"""


def files() -> dict[Path, str]:
    made = {ROOT / "docker" / "grafana" / "dashboards" / f"{board.uid}.json": dashboard_json(board) for board in BOARDS}
    return made | {ROOT / "docs" / "boards.md": _HEAD + "".join(map(_section, BOARDS))}


def _section(board: Board) -> str:
    rows = "".join(f"| {panel.title} | {panel.question or ''} | {panel.words} |\n" for panel in board.panels)
    return f"\n## {board.title}\n{board.words}\n\n| panel | question | what |\n|---|---|---|\n{rows}"


def main() -> int:
    for file, text in files().items():
        file.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
