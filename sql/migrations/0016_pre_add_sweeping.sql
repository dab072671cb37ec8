-- Readings whose rows go one by one, not with their week: a week is written anew with the rows that stay. A DELETE would
-- leave the space with the table (only its last pages go back to the disk), and takes longer than copying the few that stay.

-- Readings of a week, of all clusters (kept_readings, sweep_week).
CREATE INDEX snapshot_by_time ON store.snapshot (time);

CREATE FUNCTION store.kept_readings(parent text, week_start timestamptz) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = store, pg_temp AS $$
    SELECT snapshot.snapshot_key
    FROM snapshot
    WHERE snapshot.time >= week_start AND snapshot.time < week_start + interval '7 days'
        AND (
            NOT snapshot.is_pruned
            -- What type its groups had, an advisory goes on to tell.
            OR parent = 'consumer_group' AND EXISTS (SELECT FROM run WHERE run.snapshot_key = snapshot.snapshot_key)
        )
$$;
COMMENT ON FUNCTION store.kept_readings IS 'Readings of a week whose rows stay in a table of readings.';

CREATE FUNCTION store.has_leavings(name text, parent text, week_start timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = store, pg_temp AS $$
DECLARE
    found boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (
            SELECT FROM snapshot
            CROSS JOIN LATERAL (
                SELECT FROM %I AS left_there WHERE left_there.snapshot_key = snapshot.snapshot_key LIMIT 1
            ) AS row_of
            WHERE snapshot.is_pruned AND snapshot.time >= $2 AND snapshot.time < $2 + interval ''7 days''
                AND snapshot.snapshot_key NOT IN (SELECT kept_readings($1, $2))
        )', name
    ) INTO found USING parent, week_start;
    RETURN found;
END $$;
COMMENT ON FUNCTION store.has_leavings IS 'Whether a weekly partition holds rows of readings that were pruned.';

CREATE FUNCTION store.sweep_week(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    week record;
    columns text;
    fresh text := name || '_swept';
BEGIN
    SELECT parent, week_start INTO week FROM weeks() WHERE table_name = name;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO columns
    FROM pg_attribute
    WHERE attrelid = to_regclass(format('%I.%I', current_schema(), week.parent)) AND attnum > 0 AND NOT attisdropped
    -- Hourly loads outlive their readings.
    HAVING bool_or(attname = 'snapshot_key') AND week.parent <> 'load_history';
    IF columns IS NULL THEN
        RAISE EXCEPTION '% is no week of a table of readings', name;
    END IF;
    IF NOT has_leavings(name, week.parent, week.week_start) THEN
        RETURN false;
    END IF;
    -- Writers of this table wait while the rows that stay are copied (seconds), readers for the moment of the exchange.
    -- One table a transaction: whoever locked two in an order of his own could wait for somebody who waits for him.
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', week.parent);
    -- Somebody else may have swept, or dropped it, in the meantime.
    IF to_regclass(format('%I.%I', current_schema(), name)) IS NULL
        OR NOT has_leavings(name, week.parent, week.week_start) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', fresh, week.parent);
    EXECUTE format(
        'INSERT INTO %I (%s) SELECT %s FROM %I WHERE snapshot_key IN (SELECT kept_readings($1, $2)) ORDER BY snapshot_key',
        fresh, columns, columns, name
    ) USING week.parent, week.week_start;
    EXECUTE format('ANALYZE %I', fresh);
    EXECUTE format('DROP TABLE %I', name);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', fresh, name);
    EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        week.parent, name, week.week_start, week.week_start + interval '7 days'
    );
    RETURN true;
END $$;
COMMENT ON FUNCTION store.sweep_week IS 'Write one weekly partition of readings anew without those that were pruned; false where it holds none of them.';

-- As before (0003), but nobody waits for it: a table that is attached needs a lock that neither readers nor writers mind.
-- CREATE ... PARTITION OF wants all tables for itself, one after the other, and met loading (many tables, too) in a deadlock.
CREATE OR REPLACE FUNCTION store.ensure_week(moment timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp AS $$
DECLARE
    monday timestamp := date_trunc('week', moment AT TIME ZONE 'UTC');
    parent text;
    child text;
BEGIN
    FOR parent IN SELECT relname FROM pg_class
                  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'p' ORDER BY relname LOOP
        child := parent || '_' || to_char(monday, 'IYYY"w"IW');
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), child)) IS NOT NULL;
        -- Two writers may find it missing at once: the second waits here, then finds it.
        PERFORM pg_advisory_xact_lock(hashtext('ensure_week'));
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), child)) IS NOT NULL;
        -- Before LIKE looks at it: whoever held that lock and wanted this one could meet sweep_week.
        EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent, child, monday AT TIME ZONE 'UTC', (monday + interval '7 days') AT TIME ZONE 'UTC'
        );
    END LOOP;
END $$;
