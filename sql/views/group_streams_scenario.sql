CREATE OR REPLACE VIEW advisor.group_streams_scenario AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    group_streams_scenario.group_id,
    group_streams_scenario.scenario,
    group_streams_scenario.changed_instances,
    group_streams_scenario.members,
    group_streams_scenario.instances,
    group_streams_scenario.active_tasks,
    group_streams_scenario.standby_tasks,
    group_streams_scenario.warmup_tasks,
    group_streams_scenario.most_active,
    group_streams_scenario.least_active,
    group_streams_scenario.idle_members,
    group_streams_scenario.standbys_missing,
    group_streams_scenario.active_of_instances,
    group_streams_scenario.standbys_of_instances,
    group_streams_scenario.active_moved,
    group_streams_scenario.active_restored,
    group_streams_scenario.standbys_restored,
    group_streams_scenario.standby_replicas,
    group_streams_scenario.unknown_parts
FROM store.run
JOIN store.group_streams_scenario
    ON group_streams_scenario.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.group_streams_scenario IS 'Tasks of each Streams group today, and what an instance that dies or joins changes, in every published advisory.';
COMMENT ON COLUMN advisor.group_streams_scenario.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.group_streams_scenario.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_streams_scenario.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.group_streams_scenario.group_id IS 'Group of Kafka Streams.';
COMMENT ON COLUMN advisor.group_streams_scenario.scenario IS 'today; next_target: a rebalance without a change; instance_dies, instance_dies_with_standbys (as if each stateful task had one), instance_joins, instances_halved.';
COMMENT ON COLUMN advisor.group_streams_scenario.changed_instances IS 'Process ids of the instances that die or join.';
COMMENT ON COLUMN advisor.group_streams_scenario.members IS 'Members then; each is a thread.';
COMMENT ON COLUMN advisor.group_streams_scenario.instances IS 'Instances then; NULL where process ids are unknown.';
COMMENT ON COLUMN advisor.group_streams_scenario.active_tasks IS 'Active tasks.';
COMMENT ON COLUMN advisor.group_streams_scenario.standby_tasks IS 'Standby tasks.';
COMMENT ON COLUMN advisor.group_streams_scenario.warmup_tasks IS 'Warm-up tasks; today only.';
COMMENT ON COLUMN advisor.group_streams_scenario.most_active IS 'Active tasks of the member with most.';
COMMENT ON COLUMN advisor.group_streams_scenario.least_active IS 'Active tasks of the member with fewest.';
COMMENT ON COLUMN advisor.group_streams_scenario.idle_members IS 'Members without a task.';
COMMENT ON COLUMN advisor.group_streams_scenario.standbys_missing IS 'Standbys that the group asks for and no instance has; NULL: unknown.';
COMMENT ON COLUMN advisor.group_streams_scenario.active_of_instances IS 'Active tasks that the dying instances had, or the joining one gets.';
COMMENT ON COLUMN advisor.group_streams_scenario.standbys_of_instances IS 'Standby tasks that the dying instances had, or the joining one gets.';
COMMENT ON COLUMN advisor.group_streams_scenario.active_moved IS 'Active tasks that change their member.';
COMMENT ON COLUMN advisor.group_streams_scenario.active_restored IS 'Active tasks whose state is read from the changelog.';
COMMENT ON COLUMN advisor.group_streams_scenario.standbys_restored IS 'Standby tasks whose state is read from the changelog.';
COMMENT ON COLUMN advisor.group_streams_scenario.standby_replicas IS 'Standbys that the group asks for each stateful task; NULL: unknown.';
COMMENT ON COLUMN advisor.group_streams_scenario.unknown_parts IS 'Inputs of the replay that the snapshot lacks; other rows than today are then missing.';
