-- Statistics of what was just copied: the planner takes rows that it has never seen for one row, and then joins a whole
-- reading by nested loops. Whether autovacuum came by in time is luck. ANALYZE is the owner's; the writer asks for it here.

CREATE FUNCTION store.analyze_tables(names text[], moment timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp AS $$
DECLARE
    week text := to_char(date_trunc('week', moment AT TIME ZONE 'UTC'), 'IYYY"w"IW');
    name text;
    kind "char";
    child text;
    keys text;
BEGIN
    -- In one order for everybody: ANALYZE locks each table against another ANALYZE until the transaction ends.
    FOREACH name IN ARRAY (SELECT array_agg(DISTINCT each ORDER BY each) FROM unnest(names) AS each) LOOP
        SELECT relkind INTO kind FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relname = name AND relkind IN ('r', 'p');
        IF kind IS NULL THEN
            RAISE EXCEPTION '% is no table of this schema', name;
        END IF;
        child := CASE WHEN kind = 'p' THEN name || '_' || week ELSE name END;
        -- Only what rows are found and joined by: documents and lists are what takes long.
        SELECT string_agg(DISTINCT quote_ident(column_of.attname), ', ') INTO keys
        FROM pg_index
        JOIN pg_attribute AS column_of ON column_of.attrelid = pg_index.indrelid
        WHERE pg_index.indrelid = to_regclass(format('%I.%I', current_schema(), child))
            AND (column_of.attnum = ANY (pg_index.indkey) OR column_of.attname = 'time') AND column_of.attnum > 0;
        IF keys IS NOT NULL THEN
            EXECUTE format('ANALYZE %I (%s)', child, keys);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION store.analyze_tables IS 'Collect statistics of tables, of those that grow the week that holds a moment.';
