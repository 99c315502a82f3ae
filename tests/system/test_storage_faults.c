/* needs: virtual time */
/* Damage by people and disks to journal, store and checkpoint: moved away, replaced by an older
 * copy, cut, removed while the daemon runs. Each is reported, and missing records are made
 * again from the journal. Uses threads. */
#include "tests/support/check.h"
#include "tests/support/fault_code.h"

#include <sqlite3.h>

#include "tests/support/served_pair.h"

enum { BEFORE = 30, AFTER = 25 };

/* "NAME" in the daemon's directory, as of now in a buffer of its own. */
static void run_in(const char *command)
{
    char line[512];
    (void)snprintf(line, sizeof line, "cd %s && %s", served.dir, command);
    CHECK(command, system(line) == 0); // NOLINT(cert-env33-c): a test's own text
}

static void start_with_commands(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    /* The store in a directory of its own. */
    FILE *lab = fopen(daemon_path(&served, "lab.yaml"), "we");
    CU_ASSERT_FATAL(lab != NULL);
    (void)fprintf(lab,
                  "broker: {port: %d}\nhttp: {port: 0}\njournal: {dir: %s/journal}\n"
                  "store: {file: %s/db/store.db}\n"
                  "checkpoint: {file: %s/checkpoint, interval_s: 0.1}\npairs: {r1: {}}\n",
                  broker.port, served.dir, served.dir, served.dir);
    (void)fclose(lab);
    run_in("mkdir db && ln -s db/store.db store.db");
    start();
    publish_commands(BEFORE);
    CHECK("stored", wait_for(stored_entries, BEFORE));
}

static void wait_checkpoint(void)
{
    const double before = daemon_metric(&served, "tandem_checkpoints_total");
    for (int64_t end_us = 0; daemon_metric(&served, "tandem_checkpoints_total") <= before &&
                             wait_more(&end_us, 5000);) {
        publish_commands(1);
    }
    CHECK("stored", wait_for(stored_entries, commands));
}

/* Nothing is missing, nothing is there twice, and replay gives the same. */
static void check_all(const char *row)
{
    char body[1 << 16];
    CHECK(row, wait_for(stored_entries, commands));
    CHECK_INT("over HTTP",
              daemon_get(&served, "/api/v1/pairs/r1/entries?limit=1000", body, sizeof body),
              200);
    unsigned found = 0;
    for (const char *at = body; (at = strstr(at, "\"verdict\":")) != NULL; at++) {
        found++;
    }
    CHECK_INT(row, found, commands);
    run_in(TANDEM_PROGRAM " replay -c lab.yaml --json journal >replay.json");
    char line[512];
    (void)snprintf(line, sizeof line,
                   "grep -o '\"n\":[0-9]*,\"id\":\"k' replay.json | wc -l | grep -qx %u",
                   commands);
    run_in(line);
}

/* ---- found at a start ---- */

static void test_found_at_start(void)
{
    static const struct {
        const char *row;
        int signal;
        const char *copy; /* of the store, after the first commands; the daemon is stopped */
        const char *damage;
        const char *fault;
    } rows[] = {
        {"moved away", SIGTERM, "true", "mv db/store.db aside", "store_replaced"},
        {"moved away after a crash", SIGKILL, "true", "mv db/store.db aside", "store_replaced"},
        {"directory's contents", SIGTERM, "true", "rm -f db/*", "store_replaced"},
        {"older copy", SIGTERM, "cp db/store.db old", "rm -f db/* && cp old db/store.db",
         "outdated_copy"},
        {"without its WAL", SIGKILL, "true", "rm db/store.db-wal", "outdated_copy"},
        {"damaged WAL", SIGKILL, "true",
         "dd if=/dev/zero of=db/store.db-wal bs=1 count=4096 conv=notrunc 2>dd.log "
         "seek=$(($(stat -c %s db/store.db-wal) / 2))",
         "outdated_copy"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        start_with_commands();
        wait_checkpoint();
        CHECK_INT(rows[i].row, daemon_end(&served, SIGTERM), 0);
        run_in(rows[i].copy);
        CU_ASSERT_FATAL(daemon_start_run(&served));
        CHECK("no lack", daemon_wait_ready(&served, 200, 10000) &&
                             !strstr(daemon_log(&served), "store_lacks"));
        publish_commands(AFTER);
        CHECK("stored", wait_for(stored_entries, commands));
        wait_checkpoint();
        (void)daemon_end(&served, rows[i].signal);
        run_in(rows[i].damage);
        CU_ASSERT_FATAL(daemon_start_run(&served));
        CHECK(rows[i].row, daemon_wait_ready(&served, 200, 20000));
        /* Ready means that it is there. */
        CHECK_INT(rows[i].row, stored_entries(), commands);
        CHECK(rows[i].row, strstr(daemon_log(&served), "store_lacks") != NULL);
        CHECK(rows[i].row, has_fault_code(rows[i].fault, daemon_log(&served)));
        CHECK(rows[i].row, strstr(daemon_log(&served), "rebuilt from the journal, 20") != NULL);
        publish_commands(5);
        check_all(rows[i].row);
        /* The next checkpoint knows the store as it is now. */
        wait_checkpoint();
        CHECK_INT(rows[i].row, daemon_end(&served, SIGTERM), 0);
        CU_ASSERT_FATAL(daemon_start_run(&served));
        CHECK("ready", daemon_wait_ready(&served, 200, 10000));
        CHECK("no lack", !strstr(daemon_log(&served), "store_lacks"));
        check_all(rows[i].row);
        end();
    }
}

static void test_newer_store(void)
{
    start_with_commands();
    CHECK_INT("stop", daemon_end(&served, SIGTERM), 0);
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open(daemon_path(&served, "store.db"), &db), SQLITE_OK);
    CHECK_INT("newer",
              sqlite3_exec(db, "UPDATE meta SET value = 99 WHERE key = 'schema_version'", NULL,
                           NULL, NULL),
              SQLITE_OK);
    (void)sqlite3_close(db);
    CHECK("launch", daemon_launch(&served));
    CHECK("reports it", daemon_wait_log(&served, "store.db: ", 10000));
    CHECK("names the fault", has_fault_code("version_mismatch", daemon_log(&served)));
    end();
}

/* ---- under a running daemon ---- */

static void test_files_removed(void)
{
    static const struct {
        const char *row;
        const char *damage;
        const char *event; /* in the log */
        bool store;        /* its records are rebuilt */
    } rows[] = {
        {"store", "rm db/store.db", "store_removed", true},
        {"store and its other files", "rm db/store.db*", "store_removed", true},
        {"store directory", "rm -r db", "store_removed", true},
        {"store moved", "mv db aside", "store_removed", true},
        {"another store in its place", "cp db/store.db other && mv other db/store.db",
         "store_removed", false},
        {"journal file", "rm journal/*", "journal_removed", false},
        {"journal directory", "rm -r journal", "journal_removed", false},
        {"journal moved", "mv journal aside", "journal_removed", false},
        {"all", "rm -r journal db checkpoint", "journal_removed", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        start_with_commands();
        wait_checkpoint();
        run_in(rows[i].damage);
        CHECK(rows[i].row, daemon_wait_log(&served, rows[i].event, 5000));
        publish_commands(AFTER);
        CHECK(rows[i].row,
              !rows[i].store || daemon_wait_log(&served, "store_backfilled", 10000));
        CHECK(rows[i].row, daemon_wait_ready(&served, 200, 10000));
        check_all(rows[i].row);
        char body[1 << 14];
        (void)daemon_get(&served, "/api/v1/alarms?type=storage", body, sizeof body);
        CHECK(body, strstr(body, "\"pair\":\"$lab\"") && strstr(body, rows[i].event));
        /* A crash right now loses nothing either. */
        (void)daemon_end(&served, SIGKILL);
        CU_ASSERT_FATAL(daemon_start_run(&served));
        CHECK(rows[i].row, daemon_wait_ready(&served, 200, 10000));
        CHECK(rows[i].row, !strstr(daemon_log(&served), "checkpoint_unused"));
        publish_commands(5);
        check_all(rows[i].row);
        CHECK_INT(rows[i].row, daemon_end(&served, SIGTERM), 0);
        end();
    }
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        {"found at a start", test_found_at_start},
        {"newer store", test_newer_store},
        {"removed", test_files_removed},
        CU_TEST_INFO_NULL,
    };
    return broker_run_tests(&broker, "storage faults", tests);
}
