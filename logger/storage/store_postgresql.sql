-- The results of any number of daemons in PostgreSQL: what logger/storage/store_postgresql.c writes and reads.
-- Run in the schema "tandem", once. Columns as in SQLite (docs/storage.md), and p: the daemon's partition.
-- Texts compare by byte, as in SQLite. A pair or team belongs to one partition (table pairs), so lists and charts
-- need no p; only "$lab", of alarms of a lab itself, is in every one.

-- Up to where results are stored: the run that writes (epoch counts the runs of all daemons), and the rows ever
-- stored. store: a random name, so that a checkpoint of another database is recognised.
CREATE TABLE applied(p text COLLATE "C" PRIMARY KEY, epoch bigint NOT NULL, n bigint NOT NULL, store bigint NOT NULL)
  WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE TABLE runs(p text COLLATE "C" NOT NULL, epoch bigint NOT NULL, run bigint NOT NULL, rows bigint NOT NULL,
  PRIMARY KEY (p, epoch));
CREATE TABLE pairs(pair text COLLATE "C" PRIMARY KEY, p text COLLATE "C" NOT NULL);

-- json is text: jsonb refuses \u0000 and lone surrogates. seq is given by the writer, so it is in commit order.
CREATE TABLE entries(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, verdict text COLLATE "C" NOT NULL,
  lag_s double precision, json text COLLATE "C" NOT NULL, inconsistent smallint NOT NULL DEFAULT 0,
  team text COLLATE "C", job text COLLATE "C", task text COLLATE "C",
  PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX entries_by_time ON entries(t_us, pair, n);
CREATE INDEX entries_by_partition ON entries(p, t_us, pair, n);
CREATE INDEX entries_by_pair_verdict ON entries(pair, verdict, t_us, n);
CREATE INDEX entries_by_verdict ON entries(verdict, t_us, pair, n);
CREATE INDEX entries_lags ON entries(pair, t_us, lag_s, verdict, inconsistent);
CREATE INDEX entries_inconsistent ON entries(t_us, pair, n) WHERE inconsistent = 1;
CREATE INDEX entries_by_pair_inconsistent ON entries(pair, t_us, n) WHERE inconsistent = 1;
CREATE INDEX entries_by_pair_job ON entries(pair, job, t_us, n) WHERE job IS NOT NULL;

CREATE TABLE alarms(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL,
  json text COLLATE "C" NOT NULL, PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX alarms_by_time ON alarms(t_us, pair, n);
CREATE INDEX alarms_by_partition ON alarms(p, t_us, pair, n);
CREATE INDEX alarms_by_pair_type ON alarms(pair, type, t_us, n);
CREATE INDEX alarms_by_type ON alarms(type, t_us, pair, n);

CREATE TABLE log(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
  json text COLLATE "C" NOT NULL, PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX log_by_time ON log(t_us, pair, n);
CREATE INDEX log_by_partition ON log(p, t_us, pair, n);

CREATE TABLE changes(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, action text COLLATE "C" NOT NULL,
  json text COLLATE "C" NOT NULL, PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX changes_by_time ON changes(t_us, pair, n);
CREATE INDEX changes_by_partition ON changes(p, t_us, pair, n);

CREATE TABLE fits(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, model text COLLATE "C" NOT NULL,
  json text COLLATE "C" NOT NULL, PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX fits_by_time ON fits(t_us, pair, n);
CREATE INDEX fits_by_partition ON fits(p, t_us, pair, n);

CREATE TABLE bars(p text COLLATE "C" NOT NULL, seq bigint NOT NULL, pair text COLLATE "C" NOT NULL,
  n bigint NOT NULL, t_us bigint NOT NULL, id text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
  json text COLLATE "C" NOT NULL, PRIMARY KEY (p, seq), UNIQUE (pair, t_us, n, p));
CREATE INDEX bars_by_time ON bars(t_us, pair, n);
CREATE INDEX bars_by_partition ON bars(p, t_us, pair, n);

-- Sums of entries by time, for charts (store_buckets.c).
CREATE TABLE buckets(p text COLLATE "C" NOT NULL, pair text COLLATE "C" NOT NULL, width_us bigint NOT NULL,
  t_us bigint NOT NULL, first_us bigint NOT NULL, count bigint NOT NULL, valued bigint NOT NULL,
  min_s double precision, max_s double precision, sum_s double precision NOT NULL, inconsistent bigint NOT NULL,
  verdicts text NOT NULL, PRIMARY KEY (pair, width_us, t_us));
CREATE INDEX buckets_by_time ON buckets(p, t_us);
CREATE TABLE folded(p text COLLATE "C" NOT NULL, pair text COLLATE "C" PRIMARY KEY, until_us bigint,
  due smallint NOT NULL);
CREATE INDEX folded_due ON folded(p, pair) WHERE due = 1;
