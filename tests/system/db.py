"""tandem db init, migrate and check, and serve --check: tables, roles and views on one server and on three; each bad
setting is one line that says what to do.
"""
import os
import pathlib
import signal
import subprocess
import tempfile

from postgresql import Cluster
from rig import TANDEM
from waiting import limit_s, wait_until

VERDICTS = "AHEAD BEHIND SYNC TIMEOUT UNRESOLVED OVERFLOW HALTED VIRTUAL_ONLY REAL_ONLY"
LAB = """name: hall1
pairs: {{r1: {{}}}}
engine:
  postgresql: {{servers: [{servers}], user: writer, password_file: {password}, require_sync: {sync}{more}}}
  instance: a
"""


def write_lab(folder, cluster, sync=0, host="127.0.0.1", more="", nodes=1, name="lab.yaml"):
    lab = folder / name
    servers = ", ".join(f'"{host}:{port}"' for port in cluster.ports[:nodes])
    lab.write_text(LAB.format(servers=servers, password=folder / "password", sync=sync, more=more))
    return lab


def tandem(*arguments, code=0):
    """The lines of both outputs; the exit status must be this."""
    run = subprocess.run([TANDEM, *map(str, arguments)], capture_output=True, text=True, timeout=limit_s(120), check=False)
    assert run.returncode == code, (arguments, run.returncode, run.stdout, run.stderr)
    return run.stdout + run.stderr


def refused(lab, text, *arguments):
    """db check and serve --check refuse, the first in one line."""
    said = tandem("db", "check", "-c", lab, code=1)
    assert text in said and said.count("\n") == 1, said
    assert text in tandem("serve", "--check", lab, code=1)


def check_rights(cluster):
    """The daemon adds and does not remove; readers see views only."""
    writer = {"database": "tandem", "user": "writer", "password": "of-the-lab"}
    reader = {"database": "tandem", "user": "tandem_reader", "password": "of-readers"}
    cluster.sql("ALTER ROLE tandem_reader PASSWORD 'of-readers'")
    cluster.sql("INSERT INTO tandem.entries (p, seq, pair, n, t_us, id, verdict, lag_s, json) VALUES "
                "('hall1', 1, 'r1', 1, 1700000000123456, 'c1', 'SYNC', 0.1, '{}'), "
                "('hall1', 2, 'r1', 2, 1700000001123457, 'c2', 'AHEAD', 0.3, '{}')", **writer)
    cluster.sql("INSERT INTO tandem.entries (p, seq, pair, n, t_us, id, verdict, json) SELECT 'hall2', n, 'r2', n, 3600000000 * n - 1, "
                f"'', v, '{{}}' FROM unnest(string_to_array('{VERDICTS}', ' ')) WITH ORDINALITY x(v, n)", **writer)
    for text in ("DELETE FROM tandem.entries", "UPDATE tandem.entries SET n = 9", "CREATE TABLE tandem.x (n int)",
                 "UPDATE tandem.schema_version SET version = 0", "DROP TABLE tandem.entries"):
        assert "permission denied" in cluster.sql(text, fails=True, **writer) or "must be owner" in cluster.sql(
            text, fails=True, **writer), text
    assert "younger than 20 h" in cluster.sql(
        "SELECT tandem.remove_results('entries', 'hall1', (extract(epoch FROM now()) * 1e6)::bigint, 9)", fails=True, **writer)
    assert "permission denied" in cluster.sql("SELECT * FROM tandem.entries", fails=True, **reader)
    assert cluster.sql("SELECT lab, pair, time AT TIME ZONE 'UTC', verdict, inconsistent FROM results.entries ORDER BY n LIMIT 1",
                       **reader) == "hall1|r1|2023-11-14 22:13:20.123456|SYNC|f"
    assert cluster.sql("SELECT entries, sync, ahead, lag_s_median FROM results.hours WHERE pair = 'r1'", **reader) == "2|1|1|0.2"
    for n, verdict in enumerate(VERDICTS.split()):
        assert cluster.sql(f"SELECT time AT TIME ZONE 'UTC', {verdict} FROM results.hours WHERE pair = 'r2' AND {verdict} > 0",
                           **reader) == f"1970-01-01 0{n}:00:00|1", verdict
    assert cluster.sql("SELECT results.record('{\"a\": 1}') ->> 'a', results.record('{\"a\": \"\\u0000\"}') IS NULL",
                       **reader) == "1|t"
    assert cluster.sql("SELECT tandem.remove_results('entries', 'hall1', 1700000001000000, 9)", **writer) == "1"
    for n in (0, 4999999):
        cluster.sql(f"SELECT tandem.extend_journal('hall''1', {n})", **writer)
    cluster.sql("INSERT INTO tandem.journal SELECT 'hall''1', 4999999 + i, 1, now(), 'x' FROM generate_series(0, 1) i", **writer)
    assert cluster.sql("SELECT count(DISTINCT tableoid) FROM tandem.journal", **writer) == "2"


def check_indexes(cluster):
    """The plainest queries read no whole table."""
    reader = {"database": "tandem", "user": "tandem_reader", "password": "of-readers"}
    cluster.sql("INSERT INTO tandem.entries (p, seq, pair, n, t_us, id, verdict, json) SELECT 'hall3', n, 'p' || n % 20, n, "
                "extract(epoch FROM now())::bigint * 1000000 - (20000 - n) * 4000000::bigint, '', 'SYNC', repeat(' ', 300) "
                "FROM generate_series(1, 20000) n; ANALYZE tandem.entries", database="tandem")
    for query in ("hours WHERE time > now() - interval '1 hour'", "entries WHERE time > now() - interval '1 hour'",
                  "entries ORDER BY time DESC LIMIT 10", "entries WHERE pair = 'p1' ORDER BY time DESC LIMIT 10"):
        plan = cluster.sql(f"EXPLAIN SELECT * FROM results.{query}", **reader)
        assert "Seq Scan" not in plan and ("hours" in query or "Sort" not in plan), plan


def migrate_tables(cluster, lab, admin):
    """Tables of version 1 are refused, and brought up to date."""
    cluster.sql("DROP TABLE tandem.part, tandem.journal, tandem.checkpoint; DROP FUNCTION tandem.extend_journal; "
                "UPDATE tandem.schema_version SET version = 1", database="tandem")
    refused(lab, "the tables have version 1, and this program needs 3; update them with: tandem db migrate")
    assert "permission denied" in tandem("db", "migrate", "-c", lab, "--admin", "writer", "--admin-password-file",
                                         lab.parent / "password", code=1)
    assert "version 3, was 1" in tandem("db", "migrate", "-c", lab, *admin)
    tandem("db", "check", "-c", lab)


def one_server(folder):
    with Cluster(1, "tls") as cluster:
        admin = ("--admin-password-file", cluster.password_file)
        (folder / "password").write_text("of-the-lab\n")
        (folder / "password").chmod(0o600)
        lab = write_lab(folder, cluster)
        # The encoding of the server's first database does not matter.
        cluster.sql("DROP DATABASE postgres", database="template1")
        cluster.sql("CREATE DATABASE postgres ENCODING 'SQL_ASCII' TEMPLATE template0", database="template1")
        cluster.sql("CREATE DATABASE empty ENCODING 'UTF8' TEMPLATE template0")
        refused(lab, 'or create the user with: tandem db init')
        template = write_lab(folder, cluster, more=", database: template1", name="template.yaml")
        assert "is a template" in tandem("db", "init", "-c", template, *admin, code=1)
        tandem("db", "init", "-c", lab, "--admin", "nobody", *admin, code=1)
        said = tandem("db", "init", "-c", lab, *admin)
        assert "tandem: created" in said and "version 3, was 0" in said and "writer: created" in said, said
        said = tandem("db", "init", "-c", lab, *admin)
        assert "was there" in said and "nothing to do" in said and "keeps its password" in said, said
        assert "nothing to do" in tandem("db", "migrate", "-c", lab, *admin)

        said = tandem("db", "check", "-c", lab)
        for part in (f"server     127.0.0.1:{cluster.ports[0]}: PostgreSQL 15", "writable", "tables     version 3",
                     "0 synchronous; 0 required", "fsync is off", "checksums are off", "this machine's"):
            assert part in said, (part, said)
        shown = folder / "shown.yaml"
        shown.write_text(tandem("serve", "--check", lab))
        assert "# danger     fsync is off" in shown.read_text()
        tandem("config", shown)  # with the report it is a lab file as before
        check_rights(cluster)
        check_indexes(cluster)

        said = tandem("db", "check", "-c", write_lab(folder, cluster, sync=1, name="sync.yaml"), code=1)
        assert "fault      no synchronous standby is named" in said and "ANY 1 (s1,s2,s3)" in said, said
        cluster.sql("REVOKE tandem_writer FROM writer; GRANT CONNECT ON DATABASE tandem TO writer; "
                    "GRANT tandem_reader TO writer")
        said = tandem("db", "check", "-c", lab, code=1)
        assert "cannot read the version of the tables: permission denied" in said, said
        cluster.sql("GRANT tandem_writer TO writer")
        with_tls = f", tls: {{ca_file: {cluster.folder}/server.crt}}"
        tandem("db", "check", "-c", write_lab(folder, cluster, host="localhost", more=with_tls, name="tls.yaml"))
        refused(write_lab(folder, cluster, more=with_tls, name="name.yaml"), "TLS failed: server certificate for \"localhost\"")
        refused(write_lab(folder, cluster, more=", database: absent", name="absent.yaml"), 'there is no database "absent"')
        refused(write_lab(folder, cluster, more=", database: empty", name="empty.yaml"), "has no tables of Tandem")
        migrate_tables(cluster, lab, admin)
        cluster.sql("UPDATE tandem.schema_version SET version = 7, oldest = 7", database="tandem")
        refused(lab, "the tables have version 7, for programs from version 7 on, and this program knows 3")
        assert "install the newer Tandem" in tandem("db", "migrate", "-c", lab, *admin, code=1)
        cluster.sql("UPDATE tandem.schema_version SET version = 7, oldest = 1", database="tandem")
        tandem("db", "check", "-c", lab)
        cluster.sql("ALTER ROLE writer SET default_transaction_read_only = on")
        refused(lab, "no server can be written")


def three_servers(folder):
    with Cluster(3) as cluster:
        lab = write_lab(folder, cluster, sync=1, nodes=3, name="three.yaml")
        tandem("db", "init", "-c", lab, "--admin-password-file", cluster.password_file)
        wait_until(lambda: cluster.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'") == "2",
                   "both standbys")
        said = tandem("db", "check", "-c", lab)
        assert "2 synchronous (s2, s3); 1 required" in said and said.count("standby\n") == 2, said
        standbys = folder / "standbys.yaml"
        standbys.write_text(lab.read_text().replace(f'"127.0.0.1:{cluster.ports[0]}", ', ""))
        refused(standbys, "no server can be written: 127.0.0.1:")

        refused(write_lab(folder, cluster, host="localhost", more=f", tls: {{ca_file: {folder}/password}}", name="no_tls.yaml"),
                "the server has no TLS; switch `ssl` on in its postgresql.conf")

        # The promoted server is used, whether the old primary answers or is frozen.
        cluster.sql("SELECT pg_promote()", node=1)
        for frozen in (False, True):
            for pid in cluster.processes(0) if frozen else ():
                os.kill(pid, signal.SIGSTOP)
            said = tandem("db", "check", "-c", lab, code=1)
            assert f"primary    127.0.0.1:{cluster.ports[1]}\n" in said, said
            assert "too few synchronous standbys are connected" in said and frozen == ("does not answer" in said), said


with tempfile.TemporaryDirectory() as place:
    one_server(pathlib.Path(place))
    three_servers(pathlib.Path(place))
