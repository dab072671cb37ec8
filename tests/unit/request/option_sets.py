"""The same options as shell words and as form fields, for equal answers."""

OWN = "groups alone"  # a plan refuses them
OPTION_SETS = {
    "nothing asked": ("", {}),
    "band": ("--balance-within 5%", {"balance_within": 0.05}),
    "remove": ("--remove-broker 3", {"remove_broker": [3]}),
    "add": (
        "--add-broker 7:rack-1 --add-broker 8:rack-2 --balance-within 0.2",
        {"add_broker": ["7:rack-1", "8:rack-2"], "balance_within": "20%"},
    ),
    "a new rack": (
        "--add-broker 7:rack-9 --new-rack rack-9 --no-frontier",
        {"add_broker": ["7:rack-9"], "new_rack": ["rack-9"], "no_frontier": True},
    ),
    "demote": ("--demote-broker 0 --demote-broker 1 --seed 5", {"demote_broker": [1, 0], "seed": 5}),
    "replication factor": (
        "--replication-factor 3 --include-topic t0",
        {"replication_factor": 3, "include_topic": ["t0"]},
    ),
    "targets": (
        "--target disk=1.2 --target leaders=0.5..1.5",
        {"target": ["leaders=0.5..1.5", "disk=1.2"]},
    ),
    "caps": (
        "--cap replicas=40 --cap disk=2TB --cap leaders=20",
        {"cap": ["disk=2000GB", "leaders=20", "replicas=40"]},
    ),
    "headroom and a rack": (
        "--headroom disk=20% --remove-rack rack-2",
        {"headroom": ["disk=0.2"], "remove_rack": ["rack-2"]},
    ),
    "topics on some brokers": (
        "--topic-brokers t0=0,1,2,3,4,5 --topic-brokers t.*=rack:rack-0,rack:rack-1,rack:rack-2,3",
        {"topic_brokers": ["t0=0,1,2,3,4,5", "t.*=3,rack:rack-0,rack:rack-1,rack:rack-2"]},
    ),
    "leaders of topics": (
        "--min-topic-leaders t0=1 --min-topic-leaders t[1=]=1",
        {"min_topic_leaders": ["t0=1", "t[1=]=1"]},
    ),
    "excluded broker and topics": (
        "--exclude-broker 2 --exclude-topic t1 --exclude-topic .*1 --balance-within 10%",
        {"exclude_broker": [2], "exclude_topic": ["t1", ".*1"], "balance_within": 0.1},
    ),
    "leaders only": ("--leaders-only --max-leader-changes 4", {"leaders_only": True, "max_leader_changes": 4}),
    "budgets": (
        "--max-move-bytes 20GB --max-moves 6 --throttle 20MiB",
        {"max_move_bytes": 20_000_000_000, "max_moves": 6, "throttle": "20MiB"},
    ),
    "hours": ("--max-hours 0.1 --throttle 20MiB", {"max_hours": 0.1, "throttle": "20MiB"}),
    "growth": ("--disk-growth 0=40GB --disk-growth 2=1MB", {"disk_growth": ["0=40GB", "2=1MB"]}),
    "night": ("--night-hours 0.1 --throttle 20MiB", {"night_hours": 0.1, "throttle": "20MiB"}),
    "orders": ("--max-reorders 7 --leaders-only", {"max_reorders": 7, "leaders_only": True}),
    "what comes first": ("--prefer moves --slack 2%", {"prefer": "moves", "slack": 0.02}),
    "preferred election": ("--preferred-election", {"preferred_election": True}),
    "dead band": ("--dead-band 300% --least-gain-per-byte 0.5", {"dead_band": 3, "least_gain_per_byte": 0.5}),
    "waves": (
        "--remove-broker 1 --moves-per-broker 1 --partitions-per-wave 3 --max-leader-changes-per-wave 2",
        {
            "remove_broker": [1],
            "moves_per_broker": 1,
            "partitions_per_wave": 3,
            "max_leader_changes_per_wave": 2,
        },
    ),
    "short life": ("--expires-after-hours 48", {"expires_after_hours": 48}),
    "load of a window": ("--load p95 --window 14d", {"load": "p95", "window": "14d"}),
    OWN: (
        (
            "--own-strategy a.b:C --own-strategy b:D --own-strategy-seconds 5 --own-strategy-memory 1GiB "
            "--scenarios today --rack-byte-price 2.5"
        ),
        {
            "own_strategy": ["a.b:C", "b:D"],
            "own_strategy_seconds": 5,
            "own_strategy_memory": 2**30,
            "scenarios": "today",
            "rack_byte_price": 2.5,
        },
    ),
    "no frontier": ("--no-frontier --balance-within 30%", {"no_frontier": True, "balance_within": 0.3}),
}
