/* The teams of config/examples/, in simulation: each file's effects are those of the golden
 * trace of its name, tests/golden/team/, which was made from a team without files. */
#include "tests/support/check.h"

#include <jansson.h>

#include "config/labfile/lab_file.h"
#include "tests/support/team_drive.h"
#include "twin/report/team_report.h"

enum { LINE_MAX_BYTES = 16384 };

struct trace {
    const char *name;
    FILE *file;
    const struct team_params *p;
    unsigned line, wrong;
};

static void compare_effect(void *context, const struct team_effect *effect)
{
    struct trace *t = context;
    static char line[LINE_MAX_BYTES];
    static char ours[LINE_MAX_BYTES];
    struct json_writer w;
    json_write_start(&w, ours, sizeof ours - 1, NULL, NULL);
    team_report_effect(&w, NULL, t->p, effect, TEAM_TIME_MS);
    CHECK(t->name, json_write_end(&w));
    ours[w.used] = '\0';
    t->line++;
    json_t *golden = fgets(line, sizeof line, t->file) ? json_loads(line, 0, NULL) : NULL;
    char *theirs = golden ? json_dumps(golden, JSON_COMPACT) : NULL;
    if ((!theirs || strcmp(ours, theirs) != 0) && t->wrong++ < 5) {
        char row[64];
        (void)snprintf(row, sizeof row, "%s, line %u", t->name, t->line);
        CHECK_TEXT(row, ours, theirs ? theirs : "no more");
    }
    free(theirs);
    json_decref(golden);
}

static bool find_nominal(void *context, uint16_t robot, const struct team_step *step,
                         uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    const struct trace *t = context;
    const struct team_nominal *nominal = team_nominal(t->p, robot, step->task, step->arg);
    (void)n, (void)event;
    CHECK(t->name, nominal != NULL);
    *took_us = nominal ? nominal->mean_us : 0;
    return nominal != NULL;
}

/* R3 joins at 20 s and leaves at 60 s; then a job comes that only it could do. */
static void add_joining(struct team_drive *drive)
{
    const struct team_event away = {.kind = TEAM_EVENT_OFFLINE, .robot = 2};
    const struct team_event here = {.kind = TEAM_EVENT_ALIVE, .robot = 2};
    const struct team_event job = {
        .kind = TEAM_EVENT_JOB, .robot = TEAM_NONE, .job = drive->p->jobs[0]};
    team_drive_add(drive, 0, &away);
    team_drive_add(drive, 20000000, &here);
    team_drive_add(drive, 60000000, &away);
    team_drive_add(drive, 61000000, &job);
}

static void check_example(const char *example, const char *golden, size_t robots)
{
    char path[256];
    char line[LINE_MAX_BYTES];
    struct team_file file = {0};
    struct err_list errors = {0};
    (void)snprintf(path, sizeof path, "config/examples/%s.yaml", example);
    CHECK_INT(example, lab_file_load_teams(path, &file, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(file.team_count == 1);
    CHECK_INT(example, file.warnings->count, 0);
    CHECK_INT(example, file.teams[0].robot_count, robots);
    (void)snprintf(path, sizeof path, "tests/golden/team/%s.jsonl", golden);
    struct trace t = {.name = example, .file = fopen(path, "r"), .p = &file.teams[0]};
    CHECK(example, t.file && fgets(line, sizeof line, t.file));
    void *memory = malloc(team_bytes(t.p));
    struct team_drive drive = {.team = team_init(memory, t.p),
                               .p = t.p,
                               .duration = find_nominal,
                               .emit = compare_effect,
                               .context = &t};
    team_drive_start(&drive);
    if (strcmp(example, "class6_join") == 0) {
        add_joining(&drive);
    }
    for (unsigned steps = 0; steps < 10000 && team_drive_step(&drive); steps++) {
    }
    CHECK(example, fgets(line, sizeof line, t.file) == NULL); /* every line was made */
    CHECK_INT(example, t.wrong, 0);
    free(drive.queue);
    free(memory);
    (void)fclose(t.file);
    team_file_free(&file);
}

static void test_examples(void)
{
    check_example("class0", "class0", 1);
    check_example("class1", "class1", 2);
    check_example("class2", "class2", 2);
    check_example("class3", "class3", 2);
    check_example("class4", "class4", 2);
    check_example("class5", "class5", 2);
    check_example("class6_join", "class6_join", 3);
    check_example("class6_tool", "class6_tool", 2);
    check_example("seed004_A", "A", 2);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team files", NULL, NULL);
    CU_add_test(suite, "examples", test_examples);
    return check_run();
}
