-- Step 3 of the tables of Tandem in PostgreSQL: each verdict in results.hours, and indexes for people's queries.
-- A view may only gain columns at its end: people's own views depend on it.

SET ROLE tandem_owner;

-- date_trunc() is not immutable, so no index can have it.
CREATE OR REPLACE FUNCTION results.lab_hour(t_us bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT to_timestamp(floor(t_us::double precision / 3.6e9) * 3600)';

CREATE OR REPLACE VIEW results.hours AS
SELECT p AS lab, pair, results.lab_hour(t_us) AS time, count(*) AS entries,
    count(*) FILTER (WHERE verdict = 'AHEAD') AS ahead, count(*) FILTER (WHERE verdict = 'BEHIND') AS behind,
    count(*) FILTER (WHERE verdict = 'SYNC') AS sync, count(*) FILTER (WHERE verdict = 'TIMEOUT') AS timeout,
    count(*) FILTER (WHERE verdict = 'UNRESOLVED') AS unresolved, sum(inconsistent) AS inconsistent,
    avg(lag_s) AS lag_s_mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY lag_s) AS lag_s_median,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY abs(lag_s)) AS abs_lag_s_p99,
    count(*) FILTER (WHERE verdict = 'OVERFLOW') AS overflow, count(*) FILTER (WHERE verdict = 'HALTED') AS halted,
    count(*) FILTER (WHERE verdict = 'VIRTUAL_ONLY') AS virtual_only,
    count(*) FILTER (WHERE verdict = 'REAL_ONLY') AS real_only
FROM tandem.entries GROUP BY 1, 2, 3;

-- For ranges of results.hours: rows come in the order of time. For the newest of all entries, and of a pair.
CREATE INDEX IF NOT EXISTS entries_by_hour ON tandem.entries USING brin (results.lab_hour(t_us));
DROP INDEX tandem.entries_by_clock;
CREATE INDEX entries_by_clock ON tandem.entries (results.lab_time(t_us));
CREATE INDEX IF NOT EXISTS entries_by_pair_clock ON tandem.entries (pair, results.lab_time(t_us));

REVOKE ALL ON FUNCTION results.lab_hour(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION results.lab_hour(bigint) TO tandem_reader, tandem_writer;
RESET ROLE;
