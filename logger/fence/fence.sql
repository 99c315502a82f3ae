-- Who owns which partition, and its journal. Run in the schema "tandem", once, by the owner of the tables.

-- The fence: one small, hot row a partition (logger/fence/fence.h). renewed = 'epoch': handed over, or never owned.
CREATE TABLE part(p text COLLATE "C" PRIMARY KEY, lease uuid NOT NULL, epoch bigint NOT NULL, owner text,
  n bigint NOT NULL, beat bigint NOT NULL, t_us bigint NOT NULL, renewed timestamptz NOT NULL, state text NOT NULL)
  WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- line is text: jsonb refuses \u0000 and lone surrogates. Below a partition there is a table for each range of n.
CREATE TABLE journal(p text COLLATE "C" NOT NULL, n bigint NOT NULL, epoch bigint NOT NULL, at timestamptz NOT NULL,
  line text NOT NULL, PRIMARY KEY (p, n)) PARTITION BY LIST (p);

-- The instances, and how many lines each has.
CREATE TABLE instance(name text COLLATE "C" PRIMARY KEY, p text COLLATE "C" NOT NULL, n bigint NOT NULL DEFAULT 0,
  seen timestamptz NOT NULL) WITH (fillfactor = 50);

-- Creates the table of line n, and the next one. A writer may not create tables, so this runs with the rights of the
-- owner. ATTACH, unlike PARTITION OF, does not wait for readers.
CREATE FUNCTION extend_journal(p text, n bigint) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = tandem, pg_temp AS $$
DECLARE
  lines CONSTANT bigint := 5000000;
  list text := 'journal_' || left(md5(p), 12);
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(list));
  IF to_regclass(list) IS NULL THEN
    EXECUTE format('CREATE TABLE %I(LIKE journal INCLUDING ALL) PARTITION BY RANGE (n)', list);
    EXECUTE format('ALTER TABLE journal ATTACH PARTITION %I FOR VALUES IN (%L)', list, p);
  END IF;
  FOR i IN n / lines .. n / lines + 1 LOOP
    name := list || '_' || i;
    IF to_regclass(name) IS NULL THEN
      EXECUTE format('CREATE TABLE %I(LIKE journal INCLUDING ALL)', name);
      EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', list, name, i * lines,
        (i + 1) * lines);
    END IF;
  END LOOP;
END $$;
