-- Three thousand rows of a column tell how many topics and groups there are nearly as well as thirty thousand, in a third
-- of the time; housekeeping later looks at as many as the database is set to.
ALTER FUNCTION store.analyze_tables(text[], timestamptz) SET default_statistics_target = 10;
