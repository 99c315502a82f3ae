-- Step 2 of the tables of Tandem in PostgreSQL: the journal of labs that several daemons can own in turn.

SET ROLE tandem_owner;

-- The fence: one small, hot row a partition.
CREATE TABLE tandem.part (
    p text COLLATE "C" PRIMARY KEY, lease uuid NOT NULL, epoch bigint NOT NULL, owner text, n bigint NOT NULL,
    beat bigint NOT NULL, t_us bigint NOT NULL, renewed timestamptz NOT NULL, state text NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Parts by number: a part by day would need the time in the key, and a missing day would fail every write.
CREATE TABLE tandem.journal (
    p text COLLATE "C" NOT NULL, n bigint NOT NULL, epoch bigint NOT NULL, at timestamptz NOT NULL, line text NOT NULL,
    PRIMARY KEY (p, n)
) PARTITION BY LIST (p);

CREATE TABLE tandem.checkpoint (
    p text COLLATE "C" NOT NULL, n bigint NOT NULL, part integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (p, n, part)
);

-- Creates the part of the journal that holds line n, and the next one. CREATE ... PARTITION OF would wait for every
-- reader, so a table is made first and attached then. The daemon may not create tables itself.
CREATE FUNCTION tandem.extend_journal(p text, n bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = tandem, pg_temp AS $$
DECLARE
    lines CONSTANT bigint := 5000000;
    list text := 'journal_' || left(md5(p), 12);
    name text;
    first bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext(list));
    IF to_regclass(list) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE journal INCLUDING CONSTRAINTS, PRIMARY KEY (p, n)) PARTITION BY RANGE (n)', list);
        EXECUTE format('ALTER TABLE journal ATTACH PARTITION %I FOR VALUES IN (%L)', list, p);
    END IF;
    FOR i IN n / lines .. n / lines + 1 LOOP
        name := list || '_' || i;
        first := i * lines;
        IF to_regclass(name) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE journal INCLUDING CONSTRAINTS, PRIMARY KEY (p, n))', name);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', list, name, first,
                           first + lines);
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION tandem.extend_journal(text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tandem.extend_journal(text, bigint) TO tandem_writer;
GRANT SELECT, INSERT ON tandem.part, tandem.journal, tandem.checkpoint TO tandem_writer;
GRANT UPDATE ON tandem.part TO tandem_writer;
GRANT DELETE ON tandem.checkpoint TO tandem_writer;
RESET ROLE;
