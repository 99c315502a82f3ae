-- Who owns which partition, and its journal. Run in the schema "tandem", once, by the owner of the tables.

-- The fence: one small, hot row a partition (logger/fence/fence.h). renewed = 'epoch': handed over, or never owned.
CREATE TABLE part(p text COLLATE "C" PRIMARY KEY, lease uuid NOT NULL, epoch bigint NOT NULL, owner text NOT NULL,
  n bigint NOT NULL, beat bigint NOT NULL, t_us bigint NOT NULL, renewed timestamptz NOT NULL, state text NOT NULL)
  WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- line is text: jsonb refuses \u0000 and lone surrogates. Below a partition there is a table for each range of n.
CREATE TABLE journal(p text COLLATE "C" NOT NULL, n bigint NOT NULL, epoch bigint NOT NULL, at timestamptz NOT NULL,
  line text COLLATE "C" NOT NULL, PRIMARY KEY (p, n)) PARTITION BY LIST (p);

-- Creates what lacks for line `line_n` of a partition: its row, its table, the table of the range. A writer may not
-- create tables, so this runs with the rights of the owner. ATTACH, unlike PARTITION OF, does not wait for readers.
CREATE FUNCTION fence_prepare(partition text, line_n bigint, range_lines bigint) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = tandem, pg_temp AS $$
DECLARE
  parent text := 'journal_' || substr(md5(partition), 1, 16);
  range_index bigint := (line_n - 1) / range_lines;
  name text := parent || '_' || range_index;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('tandem.journal', 0));
  IF to_regclass(parent) IS NULL THEN
    EXECUTE format('CREATE TABLE %I(LIKE journal INCLUDING ALL) PARTITION BY RANGE (n)', parent);
    EXECUTE format('ALTER TABLE journal ATTACH PARTITION %I FOR VALUES IN (%L)', parent, partition);
  END IF;
  IF to_regclass(name) IS NULL THEN
    EXECUTE format('CREATE TABLE %I(LIKE journal INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, name,
      range_index * range_lines + 1, (range_index + 1) * range_lines + 1);
  END IF;
  INSERT INTO part VALUES (partition, gen_random_uuid(), 0, '', 0, 0, -9223372036854775808, 'epoch', 'released')
    ON CONFLICT DO NOTHING;
END $$;
