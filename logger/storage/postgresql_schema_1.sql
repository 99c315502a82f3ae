-- Step 1 of the tables of Tandem in PostgreSQL: roles, versions, daemons. The results (store_postgresql.sql)
-- and the views (postgresql_views_1.sql) follow in the same transaction (postgresql_schema.c).

DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['tandem_owner', 'tandem_writer', 'tandem_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I', role);
        END IF;
    END LOOP;
    -- People log in as tandem_reader once it has a password. Settings of a role are not inherited.
    ALTER ROLE tandem_reader LOGIN;
    ALTER ROLE tandem_reader SET statement_timeout = '30s';
    ALTER ROLE tandem_reader SET default_transaction_read_only = on;
    GRANT tandem_owner TO CURRENT_USER;
    GRANT pg_monitor TO tandem_owner;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tandem_writer, tandem_reader', current_database());
    EXECUTE format('GRANT CREATE ON DATABASE %I TO tandem_owner', current_database());
END $$;

SET ROLE tandem_owner;
CREATE SCHEMA tandem;

-- version: of this schema. oldest: of the oldest program that can work with it.
CREATE TABLE tandem.schema_version (version integer NOT NULL, oldest integer NOT NULL);
INSERT INTO tandem.schema_version VALUES (0, 0);

-- The daemons of the database. home: machine and folder, the same after a restart (service/engine/engine_instance.h).
CREATE TABLE tandem.instance (
    name text COLLATE "C" PRIMARY KEY, p text COLLATE "C" NOT NULL, home text NOT NULL, version text NOT NULL,
    fingerprint text NOT NULL, address text NOT NULL, n bigint NOT NULL DEFAULT 0, seen timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Ordinary users do not see who replicates; the daemon's check must.
CREATE FUNCTION tandem.standbys() RETURNS TABLE (name text, state text, sync_state text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS 'SELECT application_name, state, sync_state FROM pg_stat_replication';
