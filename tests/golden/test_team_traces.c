/* The golden traces of teams, tests/golden/team/: the first line is a team, how long its
 * activities take and what happens to it; then one effect a line. Ours must be the same bytes.
 */
#include "tests/support/check.h"

#include <glob.h>
#include <jansson.h>

#include "tests/support/team_drive.h"
#include "tests/support/team_spec.h"
#include "twin/report/team_report.h"

enum { LINE_MAX_BYTES = 16384, TRACES = 33, LINES = 1210 };

struct trace {
    const char *name;
    FILE *file;
    const json_t *durations;
    struct team_spec spec;
    struct team_drive drive;
    unsigned line;
    unsigned wrong;
};

static unsigned lines_seen;

static bool read_line(struct trace *t, char *line)
{
    t->line++;
    return fgets(line, LINE_MAX_BYTES, t->file) != NULL;
}

/* Our effects, written by the product, against the next line without its white space. */
static void compare_effect(void *context, const struct team_effect *effect)
{
    struct trace *t = context;
    static char line[LINE_MAX_BYTES], ours[LINE_MAX_BYTES];
    struct json_writer w;
    json_write_start(&w, ours, sizeof ours - 1, NULL, NULL);
    team_report_effect(&w, NULL, &t->spec.p, effect, TEAM_TIME_MS);
    CHECK(t->name, json_write_end(&w));
    ours[w.used] = '\0';
    json_t *golden = read_line(t, line) ? json_loads(line, 0, NULL) : NULL;
    char *theirs = golden ? json_dumps(golden, JSON_COMPACT) : NULL;
    lines_seen++;
    if ((!theirs || strcmp(ours, theirs) != 0) && t->wrong++ < 5) {
        char row[64];
        (void)snprintf(row, sizeof row, "%s, line %u", t->name, t->line);
        CHECK_TEXT(row, ours, theirs ? theirs : "no more");
    }
    free(theirs);
    json_decref(golden);
}

/* {"R1": {"Move IB": 6230, "Go": ["fail", 3000], "Wait": null}} */
static bool find_duration(void *context, uint16_t robot, const struct team_step *step,
                          uint32_t n, int64_t *took_us, enum team_event_kind *event)
{
    const struct trace *t = context;
    const struct team_params *p = &t->spec.p;
    const json_t *own = json_object_get(t->durations, p->robots[robot].name);
    const char *task = p->tasks[step->task].name;
    char key[2 * TEAM_NAME_MAX + 2];
    (void)n;
    (void)snprintf(key, sizeof key, "%s %s", task, team_name(p, step->arg));
    const json_t *value = step->arg == TEAM_NONE ? NULL : json_object_get(own, key);
    value = value ? value : json_object_get(own, task);
    CHECK(t->name, value != NULL);
    if (json_is_array(value)) {
        *event = TEAM_EVENT_FAIL;
        value = json_array_get(value, 1);
    }
    *took_us = 1000 * json_integer_value(value);
    return json_is_integer(value);
}

/* [7000, "unlock_stale", "R1", "IB", 1] */
static void add_script(struct trace *t, const json_t *script)
{
    struct team_spec *s = &t->spec;
    for (size_t k = 0; k < json_array_size(script); k++) {
        const json_t *one = json_array_get(script, k);
        const char *kind = spec_text(one, 1);
        const bool stale = strcmp(kind, "unlock_stale") == 0;
        struct team_event e = {.robot = TEAM_NONE, .resource = TEAM_NONE};
        e.kind = (enum team_event_kind)names_value(&team_event_names, stale ? "unlock" : kind);
        CHECK(t->name, e.kind < TEAM_EVENT_COUNT);
        if (e.kind == TEAM_EVENT_JOB) {
            e.job = spec_job(s, json_array_get(one, 2));
        } else if (e.kind == TEAM_EVENT_RELEASE) {
            e.resource = spec_place(spec_part(s, "resources"), spec_text(one, 2));
            e.fence = (uint64_t)json_integer_value(json_array_get(one, 3));
        } else {
            e.robot = spec_place(spec_part(s, "robots"), spec_text(one, 2));
        }
        if (stale) {
            e.resource = spec_place(spec_part(s, "resources"), spec_text(one, 3));
            e.fence = (uint64_t)json_integer_value(json_array_get(one, 4));
        }
        team_drive_add(&t->drive, 1000 * json_integer_value(json_array_get(one, 0)), &e);
    }
}

static void check_trace(const char *path)
{
    static char line[LINE_MAX_BYTES];
    const char *slash = strrchr(path, '/');
    struct trace t = {.name = slash ? slash + 1 : path, .file = fopen(path, "r")};
    CHECK(path, t.file && read_line(&t, line));
    json_t *head = json_loads(line, 0, NULL);
    CHECK(path, head != NULL);
    team_spec_read(&t.spec, json_object_get(head, "team"));
    t.durations = json_object_get(head, "durations_ms");
    void *memory = malloc(team_bytes(&t.spec.p));
    t.drive = (struct team_drive){.team = team_init(memory, &t.spec.p),
                                  .p = &t.spec.p,
                                  .duration = find_duration,
                                  .emit = compare_effect,
                                  .context = &t};
    team_drive_start(&t.drive);
    add_script(&t, json_object_get(head, "script"));
    for (unsigned steps = 0; steps < 10000 && team_drive_step(&t.drive); steps++) {
    }
    CHECK(t.name, !read_line(&t, line)); /* every line was made */
    CHECK_INT(t.name, t.wrong, 0);
    free(t.drive.queue);
    free(memory);
    team_spec_free(&t.spec);
    json_decref(head);
    (void)fclose(t.file);
}

static void test_traces(void)
{
    glob_t paths;
    CHECK_INT("tests/golden/team", glob("tests/golden/team/*.jsonl", 0, NULL, &paths), 0);
    CHECK_INT("traces", paths.gl_pathc, TRACES);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        check_trace(paths.gl_pathv[i]);
    }
    globfree(&paths);
    CHECK_INT("lines", lines_seen, LINES);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team traces", NULL, NULL);
    CU_add_test(suite, "traces", test_traces);
    return check_run();
}
