/* logger/storage/store_schema.c - the tables of the SQLite store, version by version
 * (docs/storage.md). */
#include "logger/storage/store_sqlite.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errors/status.h"

const char *const store_schema_steps[STORE_SCHEMA_VERSION] = {
    "PRAGMA application_id = 1414415437;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE entries(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, lag_s REAL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE TABLE alarms(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX entries_by_time ON entries(t_us, pair, n);"
    "CREATE INDEX alarms_by_time ON alarms(t_us, pair, n);",

    "CREATE INDEX entries_by_pair_verdict ON entries(pair, verdict, t_us, n);"
    "CREATE INDEX entries_by_verdict ON entries(verdict, t_us, pair, n);"
    "CREATE INDEX alarms_by_pair_type ON alarms(pair, type, t_us, n);"
    "CREATE INDEX alarms_by_type ON alarms(type, t_us, pair, n);"
    "CREATE TABLE counts(kind INTEGER NOT NULL, pair TEXT NOT NULL, type TEXT NOT NULL,"
    "  count INTEGER NOT NULL, PRIMARY KEY(kind, pair, type)) WITHOUT ROWID;"
    "INSERT INTO counts SELECT 0, pair, verdict, count(*) FROM entries GROUP BY 2, 3;"
    "INSERT INTO counts SELECT 1, pair, type, count(*) FROM alarms GROUP BY 2, 3;",

    "CREATE TABLE log(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX log_by_time ON log(t_us, pair, n);",

    "CREATE TABLE changes(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX changes_by_time ON changes(t_us, pair, n);",

    /* The index has all that a chart needs, so that the rows with their JSON are not read. */
    "CREATE INDEX entries_lags ON entries(pair, t_us, lag_s, verdict);",

    /* INCONSISTENT was once a verdict and hid which robot was first. The rule of twin/pair
     * (docs/model/pair.md) restores the verdict, with a tolerance that agrees with the pair's
     * other entries, or the default one. */
    "CREATE TEMP TABLE sync(pair TEXT PRIMARY KEY, s REAL, apart_s REAL);"
    "INSERT INTO temp.sync SELECT pair,"
    "  max(CASE verdict WHEN 'SYNC' THEN abs(lag_s) ELSE 0 END),"
    "  min(CASE WHEN verdict IN ('AHEAD', 'BEHIND') THEN abs(lag_s) ELSE 1e9 END)"
    "  FROM entries GROUP BY pair;"
    "ALTER TABLE entries ADD COLUMN inconsistent INTEGER NOT NULL DEFAULT 0;"
    "UPDATE entries SET json = json_set(json, '$.consistent', json(CASE"
    "  WHEN verdict IN ('AHEAD', 'BEHIND', 'SYNC', 'UNRESOLVED') THEN 'true'"
    "  WHEN verdict = 'INCONSISTENT' THEN 'false' ELSE 'null' END)) WHERE json_valid(json);"
    "UPDATE entries SET inconsistent = 1, verdict = CASE"
    "  WHEN lag_s IS NULL OR NOT json_valid(json) THEN 'UNRESOLVED'"
    "  WHEN json_extract(json, '$.interrupted_s') > 0 THEN 'UNRESOLVED'"
    "  WHEN abs(lag_s) <= (SELECT s FROM temp.sync y WHERE y.pair = entries.pair) THEN 'SYNC'"
    "  WHEN abs(lag_s) <= 0.05 AND"
    "    abs(lag_s) < (SELECT apart_s FROM temp.sync y WHERE y.pair = entries.pair) THEN 'SYNC'"
    "  WHEN abs(lag_s) <= json_extract(json, '$.lag_uncertainty_s') THEN 'UNRESOLVED'"
    "  WHEN lag_s > 0 THEN 'AHEAD' ELSE 'BEHIND' END WHERE verdict = 'INCONSISTENT';"
    "UPDATE entries SET json = json_set(json, '$.verdict', verdict)"
    "  WHERE inconsistent = 1 AND json_valid(json);"
    "DROP TABLE temp.sync;"
    "INSERT INTO counts SELECT 0, pair, verdict, count(*) FROM entries WHERE inconsistent = 1"
    "  GROUP BY 2, 3 ON CONFLICT DO UPDATE SET count = count + excluded.count;"
    "DROP INDEX entries_lags;"
    "CREATE INDEX entries_lags ON entries(pair, t_us, lag_s, verdict, inconsistent);"
    "CREATE INDEX entries_inconsistent ON entries(t_us, pair, n) WHERE inconsistent = 1;"
    "CREATE INDEX entries_by_pair_inconsistent ON entries(pair, t_us, n)"
    "  WHERE inconsistent = 1;",

    /* Identifies the store: how many rows were ever added, and by which run of the daemon. */
    "CREATE TABLE runs(seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, rows INTEGER NOT NULL);"
    "INSERT INTO meta VALUES('store', random());"
    "INSERT INTO meta SELECT 'rows', (SELECT count(*) FROM entries) +"
    "  (SELECT count(*) FROM alarms) + (SELECT count(*) FROM log) +"
    "  (SELECT count(*) FROM changes);",

    "CREATE TABLE fits(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX fits_by_time ON fits(t_us, pair, n);",

    "CREATE TABLE bars(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX bars_by_time ON bars(t_us, pair, n);",

    /* Team, job and task of a command, extracted from the record. */
    "ALTER TABLE entries ADD COLUMN team TEXT GENERATED ALWAYS AS"
    "  (CASE WHEN json_valid(json) THEN json_extract(json, '$.team') END) VIRTUAL;"
    "ALTER TABLE entries ADD COLUMN job TEXT GENERATED ALWAYS AS"
    "  (CASE WHEN json_valid(json) THEN json_extract(json, '$.job') END) VIRTUAL;"
    "ALTER TABLE entries ADD COLUMN task TEXT GENERATED ALWAYS AS"
    "  (CASE WHEN json_valid(json) THEN json_extract(json, '$.task') END) VIRTUAL;"
    "CREATE INDEX entries_by_pair_job ON entries(pair, job, t_us, n) WHERE job IS NOT NULL;",

    /* Sums of entries by time; existing entries are added later (store_buckets.c). */
    "CREATE TABLE buckets(pair TEXT NOT NULL, width_us INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, first_us INTEGER NOT NULL, count INTEGER NOT NULL,"
    "  valued INTEGER NOT NULL, min_s REAL, max_s REAL, sum_s REAL NOT NULL,"
    "  inconsistent INTEGER NOT NULL, verdicts TEXT NOT NULL,"
    "  PRIMARY KEY(pair, width_us, t_us)) WITHOUT ROWID;"
    "CREATE INDEX buckets_by_time ON buckets(t_us);"
    "CREATE TABLE folded(pair TEXT PRIMARY KEY, until_us INTEGER, due INTEGER NOT NULL)"
    "  WITHOUT ROWID;"
    "CREATE INDEX folded_due ON folded(pair) WHERE due = 1;"
    "INSERT INTO folded SELECT DISTINCT pair, NULL, 1 FROM counts WHERE kind = 0;",

    /* Team, job and task are now stored columns. As generated columns they made SQLite parse
     * the JSON of every row that was added, removed or checked. */
    "DROP INDEX entries_by_pair_job;"
    "ALTER TABLE entries DROP COLUMN team;"
    "ALTER TABLE entries DROP COLUMN job;"
    "ALTER TABLE entries DROP COLUMN task;"
    "ALTER TABLE entries ADD COLUMN team TEXT;"
    "ALTER TABLE entries ADD COLUMN job TEXT;"
    "ALTER TABLE entries ADD COLUMN task TEXT;"
    "UPDATE entries SET team = json_extract(json, '$.team'), job = json_extract(json, '$.job'),"
    "  task = json_extract(json, '$.task')"
    "  WHERE CASE WHEN instr(json, '\"team\":') > 0 THEN json_valid(json) END;"
    "CREATE INDEX entries_by_pair_job ON entries(pair, job, t_us, n) WHERE job IS NOT NULL;",
    "DROP TABLE counts;", /* nothing reads it */
};

void store_close_to_others(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[PATH_MAX];
    struct stat about;
    const int made = path[0] ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640) : -1;
    if (made >= 0) {
        (void)close(made);
    }
    for (size_t i = 0; path[0] && i < COUNT(suffixes); i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (stat(name, &about) == 0 && (about.st_mode & S_IRWXO)) {
            (void)chmod(name, about.st_mode & 07770);
        }
    }
}
