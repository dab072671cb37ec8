import asyncio
import inspect
from datetime import UTC, datetime

from rebalance_advisor.page import queries, reader
from rebalance_advisor.page import routes as asking
from rebalance_advisor.page.access import Access, readable_clusters
from rebalance_advisor.page.routes import (
    clusters_router,
    fleet_router,
    make_app,
    move_filter,
    plans_router,
    subjects_router,
)

ROUTERS = (fleet_router, clusters_router, plans_router, subjects_router)


def test_every_route_only_reads_and_has_an_address_of_its_own():
    routes = [route for make in ROUTERS for route in make().routes]
    assert {method for route in routes for method in route.methods} == {"GET", "HEAD"}
    assert len({route.path for route in routes}) == len(routes) == 15


def test_whatever_is_about_one_cluster_asks_for_the_right_to_it():
    for route in (route for make in ROUTERS for route in make().routes if "{cluster}" in route.path):
        assert next(needed.call.__name__ for needed in route.dependant.dependencies) == "check_cluster", route.path


def test_values_are_bound_and_never_part_of_a_statement():
    evil, since = "'; DROP TABLE store.run; --", datetime(2026, 11, 20, tzinfo=UTC)
    statements = [
        queries.findings_of(evil, evil, evil, evil),
        queries.moves(evil, evil, queries.MoveFilter(topic=evil, kind=evil)),
        *queries.group_parts(evil, evil, since).values(),
        *queries.broker_parts(evil, evil, 1).values(),
        queries.heat(evil, evil, (evil,), 0.85, 5),
        queries.copies(evil, evil, 5),
        queries.moves_of_topic(evil, evil, evil),
        queries.finding_lanes(evil, since, 5),
        *queries.topic_parts(evil, evil, 1).values(),
        queries.listed("topics", evil, evil, "findings", 1),
        queries.list_total("groups", evil, evil),
    ]
    for statement in statements:
        assert "DROP" not in str(statement.compile())


def test_empty_fields_of_the_form_ask_for_all():
    assert asyncio.run(move_filter(wave="", broker="", down=False, number=1)) == queries.MoveFilter()
    asked = asyncio.run(move_filter(topic="t", kind="leader", wave="2", broker="9", sort="bytes", down=True, number=3))
    assert asked == queries.MoveFilter(
        topic="t", kind="leader", wave=2, broker=9, sort="bytes", is_descending=True, page=3
    )  # fmt: skip


def test_what_is_readable_is_asked_of_whoever_mounts_the_page():
    class Request:
        """The used part of a request."""

        class app:
            class state:
                access = Access(user=lambda: None, readable=lambda user, names: frozenset({*names} & {user}))

        class state:
            advisor_user = "mine"

    assert readable_clusters(Request, ["mine", "theirs"]) == {"mine"}


def test_all_questions_go_through_the_reader():
    assert inspect.signature(asking.rows).parameters["statement"].annotation == "Select[Any]"
    assert not hasattr(reader.Reader, "execute")


def test_no_route_dependency_or_handler_runs_in_the_threads_that_all_apps_share():
    async def user():
        """No user."""

    def calls(dependant):
        yield dependant.call
        for needed in dependant.dependencies:
            yield from calls(needed)

    app = make_app(None, Access(user=user, readable=lambda user, names: frozenset()))
    called = {call for route in app.routes for call in calls(route.dependant)} | {*app.exception_handlers.values()}
    assert len(called) > len(app.routes)
    assert [call for call in called if not inspect.iscoroutinefunction(call)] == []
