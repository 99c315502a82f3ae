/* needs: virtual time */
/* A full disk: readyz reports it, nothing is acknowledged, and once there is room again the
 * broker delivers all of it. First with a limit on the size of files, which every user may set,
 * then with a small file system of its own, which needs root. Uses threads. */
#include "tests/support/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "service/tool/lab_clock.h"
#include "tests/support/served_pair.h"

static bool is_not_acknowledged(void)
{
    return daemon_metric(&served, "tandem_inbox_refused_total") >= 1;
}

static void wait_refused(void)
{
    for (int64_t end_us = 0; !is_not_acknowledged() && wait_more(&end_us, 20000);) {
    }
    CHECK("not acknowledged", is_not_acknowledged());
}

static void fill_and_clear(const char *row, void (*fill)(void), void (*clear)(void))
{
    publish_commands(20);
    CHECK(row, wait_for(stored_entries, 20));
    CHECK_INT(row, daemon_end(&served, SIGTERM), 0);
    CHECK(row, daemon_start_run(&served) && daemon_wait_ready(&served, 200, 10000));
    fill();
    publish_commands(60);
    const unsigned during = commands;
    CHECK(row, daemon_wait_ready(&served, 503, 10000));
    CHECK("names the journal", wait_body("\"journal\":{\"ok\":false"));
    wait_refused();
    CHECK("names the broker", wait_body("\"broker\":{\"ok\":false"));
    CHECK_INT("nothing is lost", (long long)daemon_metric(&served, "tandem_inbox_lost_total"),
              0);
    clear();
    CHECK("recovers by itself", daemon_wait_ready(&served, 200, 15000));
    CHECK("the broker had it", wait_for(stored_entries, during));
    CHECK_INT("entries are one each", stored_entries(), during);
    publish_commands(10);
    const unsigned total = commands;
    CHECK(row, wait_for(stored_entries, total));
    /* Full again when it has to stop: it stops quickly, and its reports are true. */
    fill();
    publish_commands(60);
    wait_refused();
    const int64_t began_us = lab_clock_monotonic_us();
    const int code = daemon_end(&served, SIGTERM);
    const int64_t took_us = lab_clock_monotonic_us() - began_us;
    CHECK("stops in time", took_us < 10000000); /* systemd allows 60 s */
    (void)printf("    %s: stopped after %" PRId64 " us\n", row, took_us);
    CHECK("names the place", code == 0 || strstr(daemon_log(&served), "the broker has them"));
    clear();
    CHECK("starts again", daemon_start_run(&served));
    CHECK(row, wait_for(stored_entries, commands));
    publish_commands(5);
    CHECK(row, wait_for(stored_entries, commands));
    CHECK_INT("no verdict is lost", stored_entries(), commands);
    CHECK_INT("stops in good order", daemon_end(&served, SIGTERM), 0);
}

/* ---- a limit on the size of files ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit now;
    CHECK("limits", prlimit(served.pid, RLIMIT_FSIZE, NULL, &now) == 0);
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    CHECK("limit", prlimit(served.pid, RLIMIT_FSIZE, &now, NULL) == 0);
}

static void fill_by_limit(void)
{
    limit_files(0);
}

static void clear_limit(void)
{
    limit_files(RLIM_INFINITY);
}

static void test_limit(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    start();
    fill_and_clear("limit", fill_by_limit, clear_limit);
    end();
}

/* How many of the journal's lines are of sessions at the broker. */
static unsigned recorded_sessions(void)
{
    char command[256];
    unsigned count = 0;
    (void)snprintf(command, sizeof command,
                   "cat %s/journal/*.jsonl | grep -c '/$lab/session\"'", served.dir);
    FILE *pipe = popen(command, "re");
    CHECK("count", pipe && fscanf(pipe, "%u", &count) == 1 && pclose(pipe) == 0);
    return count;
}

/* A connection that the journal cannot record does not count: after a restart its messages
 * would count as earlier ones. */
static void test_connection(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    start();
    publish_commands(10);
    CHECK("stored", wait_for(stored_entries, 10));
    CHECK_INT("noted", recorded_sessions(), 1);
    fill_by_limit();
    broker_stop(&broker, SIGTERM);
    CHECK("broker", broker_start(&broker));
    CHECK("gives the reason", wait_body("acknowledging nothing to"));
    CHECK_INT("not recorded", recorded_sessions(), 1);
    clear_limit();
    CHECK("recovers by itself", daemon_wait_ready(&served, 200, 15000));
    CHECK_INT("recorded, that one", recorded_sessions(), 2);
    CHECK_INT("only recorded ones are known",
              (long long)daemon_metric(&served, "tandem_inbox_not_journalled_total"), 0);
    publish_commands(10);
    CHECK("goes on", wait_for(stored_entries, 20));
    CHECK_INT("stops in good order", daemon_end(&served, SIGTERM), 0);
    end();
}

/* ---- a small file system ---- */

static void fill_disk(void)
{
    FILE *out = fopen(daemon_path(&served, "journal/ballast"), "we");
    static const char block[4096];
    (void)setvbuf(out, NULL, _IONBF, 0);
    while (out && fwrite(block, 1, sizeof block, out) == sizeof block) {
    }
    if (out) {
        (void)fclose(out);
    }
}

static void clear_disk(void)
{
    CHECK("ballast", remove(daemon_path(&served, "journal/ballast")) == 0);
}

static void test_small_disk(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    /* Lab file and log stay outside; store and checkpoint move in. */
    const char *disk = daemon_path(&served, "journal");
    FILE *lab = fopen(daemon_path(&served, "lab.yaml"), "we");
    CU_ASSERT_FATAL(lab != NULL && mkdir(disk, 0700) == 0);
    (void)fprintf(lab,
                  "broker: {port: %d}\nhttp: {port: 0}\njournal: {dir: %s}\n"
                  "store: {file: %s/store.db}\n"
                  "checkpoint: {file: %s/checkpoint, interval_s: 0.5}\npairs: {r1: {}}\n",
                  broker.port, disk, disk, disk);
    (void)fclose(lab);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tandem", disk, "tmpfs", 0, "size=3m") != 0) {
        (void)puts("    SKIPPED: a small file system cannot be mounted here");
        daemon_finish(&served);
        return;
    }
    CHECK("link", symlink("journal/store.db", daemon_path(&served, "store.db")) == 0);
    start();
    /* Less room than the default limit: reported, and ready all the same. */
    CHECK("told", daemon_wait_log(&served, "space_low: little space is left", 10000));
    CHECK("in words", wait_body("\"journal\":{\"ok\":true,\"text\":\"little space is left"));
    CHECK("ready", daemon_wait_ready(&served, 200, 2000));
    const double free_bytes = daemon_metric(&served, "tandem_disk_free_bytes{file=\"store\"}");
    CHECK("measured", free_bytes > 0.0 && free_bytes < 3.2e6);
    fill_and_clear("small disk", fill_disk, clear_disk);
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
    (void)umount(disk);
    daemon_finish(&served);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        {"limit", test_limit},
        {"connection", test_connection},
        {"small disk", test_small_disk},
        CU_TEST_INFO_NULL,
    };
    return broker_run_tests(&broker, "full disk", tests);
}
