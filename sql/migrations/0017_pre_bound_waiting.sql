-- Whoever wants to drop a week stands before all who come after: behind a dump of hours, nobody could read or save. Retention
-- gives up after this time and comes again. And a week of readings in which one was saved a moment ago stays.
CREATE OR REPLACE FUNCTION store.drop_week(name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    week record;
BEGIN
    SELECT parent, week_start INTO week FROM weeks() WHERE table_name = name;
    IF week.parent IS NULL THEN
        RAISE EXCEPTION '% is no week of a table that grows', name;
    END IF;
    -- Whoever is saving into it is waited for here.
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', week.parent);
    IF week.parent <> 'load_history'
        AND EXISTS (
            SELECT FROM pg_attribute
            WHERE attrelid = to_regclass(format('%I.%I', current_schema(), week.parent)) AND attname = 'snapshot_key'
        )
        AND EXISTS (
            SELECT FROM snapshot
            WHERE NOT is_pruned AND time >= week.week_start AND time < week.week_start + interval '7 days'
        ) THEN
        RETURN;
    END IF;
    IF to_regclass(format('%I.%I', current_schema(), name)) IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', name);
    END IF;
END $$;
