from dataclasses import replace

from kafka_rebalance.render.steps import StepFigures, step_figures, step_line, step_waves

RELIEF = StepFigures(
    step=2, kind="relieve", first_wave=2, last_wave=4, partitions=16, replica_moves=16, bytes=2**40, leader_changes=0,
    seconds=12_000.0, bytes_so_far=2**40, lower_bound_bytes=0.998 * 2**40, gap=0.002, resource="disk",
    skew_before=1.68, skew_after=1.1, fullest_broker_before=9, fullest_broker_after=9, used_ratio_before=0.93,
    used_ratio_after=0.61, repairs={},
)  # fmt: skip


def test_a_relief_names_its_broker_and_the_share_of_capacity_before_and_after() -> None:
    assert step_line(RELIEF) == (
        "2. Relieve broker 9: 16 replicas, 1.0 TiB, 3 h 20 min, no leader changes; broker 9's disk 93 % → 61 % of "
        "capacity; 0.20 % above what is provably needed"
    )
    assert step_waves(RELIEF) == "waves 2 to 4"


def test_another_broker_may_be_the_fullest_afterwards() -> None:
    other = replace(RELIEF, fullest_broker_after=3, used_ratio_after=0.928)
    assert "fullest disk 93.0 % (broker 9) → 92.8 % (broker 3) of capacity" in step_line(other)


def test_without_a_capacity_the_mean_is_the_measure() -> None:
    unknown = replace(RELIEF, used_ratio_before=None, used_ratio_after=None)
    assert "highest disk over mean 1.68 × → 1.10 ×" in step_line(unknown)


def test_unknown_sizes_are_unknown_and_prove_nothing() -> None:
    unknown = replace(RELIEF, bytes=None, seconds=None, bytes_so_far=None, lower_bound_bytes=None, gap=None)
    assert step_line(unknown) == (
        "2. Relieve broker 9: 16 replicas, size unknown, time unknown, no leader changes; broker 9's disk 93 % → 61 % "
        "of capacity"
    )


def test_a_bound_counts_the_bytes_of_earlier_steps() -> None:
    later = replace(RELIEF, step=3, bytes_so_far=2**41, lower_bound_bytes=2.0**41)
    assert step_line(later).endswith("; steps 1 to 3 copy 2.0 TiB, 0.00 % above what is provably needed")


def test_an_election_copies_nothing() -> None:
    election = replace(
        RELIEF, step=1, kind="elect", first_wave=1, last_wave=1, replica_moves=0, bytes=0, leader_changes=541,
        seconds=0.0, bytes_so_far=0, lower_bound_bytes=0.0, gap=0.0, resource="leaders", skew_before=1.46,
        skew_after=1.03,
    )  # fmt: skip
    assert step_line(election) == (
        "1. Elect preferred leaders: 541 leader changes, nothing is copied; highest leaders over mean 1.46 × → 1.03 ×"
    )
    assert step_waves(election) == "wave 1"


def test_a_repair_names_what_is_wrong_today() -> None:
    repair = replace(
        RELIEF, kind="repair", partitions=3, resource=None, repairs={"separates_racks": 2, "under_replicated": 1}
    )
    assert "Repair 3 partitions: " in step_line(repair)
    assert "; 2 with replicas that share a rack, 1 with replicas out of sync; " in step_line(repair)


def test_repairs_that_wait_for_room_are_named_with_the_relief() -> None:
    assert "of capacity; repairs partitions: 2 on offline log dirs" in step_line(
        replace(RELIEF, repairs={"leaves_offline_log_dir": 2})
    )


def test_the_resource_of_evening_out_is_the_one_whose_skew_falls_most() -> None:
    def outcome(name: str, before: float, after: float) -> dict:
        return {
            "resource": name, "skew_before": before, "skew_after": after, "fullest_before": 1, "load_before": 90.0,
            "fullest_after": 2, "load_after": 60.0,
        }  # fmt: skip

    cost = {"replica_moves": 1, "bytes": 5, "leader_changes": 0, "seconds": 1.0}
    step = {"kind": "even_out", "waves": [1], "cost": cost, "lower_bound_bytes": 5.0, "gap": 0.0}
    step["resources"] = [outcome("in", 3.0, 2.9), outcome("disk", 1.5, 1.1)]
    plan = {
        "resources": [{"resource": "in", "capacity": None}, {"resource": "disk", "capacity": {"1": 100.0, "2": 80.0}}],
        "steps": [step], "moves": [{"reason": {"code": "fills_broker", "args": {}}}], "waves": [{"moves": [0]}],
        "reasons": [],
    }  # fmt: skip
    (step_figure,) = step_figures(plan)
    assert (step_figure.resource, step_figure.used_ratio_before, step_figure.used_ratio_after) == ("disk", 0.9, 0.75)
    assert step_figure.repairs == {}
