-- Step 1, its end: rights, and views for people, Grafana and pandas. A lab is what its file names.

-- Retention. The daemon may remove nothing by itself, and by this nothing younger than 20 h (its shortest retention is
-- a day). kind: the table. Returns the number of removed rows.
CREATE FUNCTION tandem.remove_results(kind text, lab text, before_us bigint, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = tandem, pg_temp AS $$
DECLARE
    removed bigint;
BEGIN
    IF kind NOT IN ('entries', 'alarms', 'log', 'changes', 'fits', 'bars') THEN
        RAISE 'there are no results named %', kind;
    END IF;
    IF before_us > extract(epoch FROM now() - interval '20 h') * 1000000 THEN
        RAISE 'results younger than 20 h are not removed';
    END IF;
    EXECUTE format('DELETE FROM %I WHERE p = $1 AND seq IN (SELECT seq FROM %I WHERE p = $1 AND t_us < $2 '
                   'ORDER BY t_us LIMIT $3)', kind, kind) USING lab, before_us, most;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

-- Least rights: the daemon adds and updates, and removes only what it can compute again.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tandem FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA tandem TO tandem_writer;
GRANT USAGE ON SCHEMA tandem TO tandem_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA tandem TO tandem_writer;
GRANT INSERT ON ALL TABLES IN SCHEMA tandem TO tandem_writer;
REVOKE INSERT ON tandem.schema_version FROM tandem_writer;
GRANT UPDATE ON tandem.instance, tandem.applied, tandem.runs, tandem.pairs, tandem.buckets, tandem.folded
    TO tandem_writer;
GRANT DELETE ON tandem.runs, tandem.buckets, tandem.folded TO tandem_writer;

CREATE SCHEMA results;

CREATE FUNCTION results.lab_time(t_us bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT to_timestamp(t_us::double precision / 1e6)';

-- NULL for a record that jsonb refuses.
CREATE FUNCTION results.record(json text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN json::jsonb;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$;

-- Ranges of time read few blocks, because rows come in the order of time.
CREATE INDEX entries_by_clock ON tandem.entries USING brin (results.lab_time(t_us));

CREATE VIEW results.entries AS
SELECT p AS lab, pair, n, results.lab_time(t_us) AS time, id, verdict, lag_s, inconsistent = 1 AS inconsistent, team, job,
    task, json FROM tandem.entries;

CREATE VIEW results.hours AS
SELECT p AS lab, pair, date_trunc('hour', results.lab_time(t_us), 'UTC') AS time, count(*) AS entries,
    count(*) FILTER (WHERE verdict = 'AHEAD') AS ahead, count(*) FILTER (WHERE verdict = 'BEHIND') AS behind,
    count(*) FILTER (WHERE verdict = 'SYNC') AS sync, count(*) FILTER (WHERE verdict = 'TIMEOUT') AS timeout,
    count(*) FILTER (WHERE verdict = 'UNRESOLVED') AS unresolved, sum(inconsistent) AS inconsistent,
    avg(lag_s) AS lag_s_mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY lag_s) AS lag_s_median,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY abs(lag_s)) AS abs_lag_s_p99
FROM tandem.entries GROUP BY 1, 2, 3;

CREATE VIEW results.alarms AS
SELECT p AS lab, pair, n, results.lab_time(t_us) AS time, id, type, json FROM tandem.alarms;

CREATE VIEW results.changes AS
SELECT p AS lab, pair, n, results.lab_time(t_us) AS time, id, action, json FROM tandem.changes;

CREATE VIEW results.fits AS
SELECT p AS lab, pair, n, results.lab_time(t_us) AS time, id AS side, model, json FROM tandem.fits;

CREATE VIEW results.instances AS
SELECT name, p AS lab, version, address, seen, seen > now() - interval '10 s' AS running FROM tandem.instance;

GRANT USAGE ON SCHEMA results TO tandem_reader, tandem_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA results TO tandem_reader, tandem_writer;
GRANT EXECUTE ON FUNCTION results.lab_time(bigint), results.record(text) TO tandem_reader, tandem_writer;
RESET ROLE;
