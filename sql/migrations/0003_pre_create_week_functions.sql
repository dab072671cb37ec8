-- Weeks: the partitions of the tables that grow. They are the owner's; the writer asks for them through functions.

CREATE FUNCTION store.weeks(OUT table_name text, OUT parent text, OUT week_start timestamptz) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = store, pg_temp AS $$
    SELECT child.relname, parent.relname, to_date(right(child.relname, 7), 'IYYY"w"IW')::timestamp AT TIME ZONE 'UTC'
    FROM pg_inherits
    JOIN pg_class child ON child.oid = pg_inherits.inhrelid
    JOIN pg_class parent ON parent.oid = pg_inherits.inhparent
    WHERE parent.relnamespace = current_schema()::regnamespace AND parent.relkind = 'p' AND child.relkind = 'r'
$$;
COMMENT ON FUNCTION store.weeks IS 'All weekly partitions that exist, with the Monday (UTC) that each begins at.';

CREATE FUNCTION store.ensure_week(moment timestamptz) RETURNS void
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
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
            child, parent, monday AT TIME ZONE 'UTC', (monday + interval '7 days') AT TIME ZONE 'UTC'
        );
    END LOOP;
END $$;
COMMENT ON FUNCTION store.ensure_week IS 'Make the partitions that hold a moment, for every table that grows.';

CREATE FUNCTION store.drop_week(name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM weeks() WHERE table_name = name) THEN
        RAISE EXCEPTION '% is no week of a table that grows', name;
    END IF;
    EXECUTE format('DROP TABLE %I', name);
END $$;
COMMENT ON FUNCTION store.drop_week IS 'Drop one weekly partition whole; refuses every other table.';
