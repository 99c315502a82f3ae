/* A team in the lab: its robots are pairs in link mode that answer their commands, and what it
 * does is what the golden traces say; ids, entries, replay, checkpoints, requests. */
#include "tests/support/crew_rig.h"

#define AT(s) (RIG_T0_US + (int64_t)((s)*1e6))

static const char START[] = "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s1\"}";

/* {"R1": {"Move IB": 6230, "Go": ["fail", 3000], "Wait": null}} */
static bool golden_lap(struct rig *rig, uint16_t robot, const struct team_step *step,
                       int64_t *us, const char **status)
{
    const struct team_params *p = &rig->spec.p;
    const json_t *own = json_object_get(json_object_get(rig->head, "durations_ms"),
                                        p->robots[robot].name);
    const char *task = p->tasks[step->task].name;
    char key[2 * TEAM_NAME_MAX + 2];
    (void)snprintf(key, sizeof key, "%s %s", task, team_name(p, step->arg));
    const json_t *value = step->arg == TEAM_NONE ? NULL : json_object_get(own, key);
    value = value ? value : json_object_get(own, task);
    if (json_is_array(value)) {
        *status = "error";
        value = json_array_get(value, 1);
    }
    *us = 1000 * json_integer_value(value);
    return json_is_integer(value);
}

/* What else happens: releases by people, signs of life. */
static bool say_script(struct rig *rig)
{
    const json_t *script = json_object_get(rig->head, "script");
    for (size_t k = 0; k < json_array_size(script); k++) {
        const json_t *one = json_array_get(script, k);
        const int64_t t_us = RIG_T0_US + 1000 * json_integer_value(json_array_get(one, 0));
        const char *kind = spec_text(one, 1);
        char text[RIG_PAYLOAD];
        if (strcmp(kind, "release") == 0) {
            (void)snprintf(text, sizeof text,
                           "{\"team\":\"cell\",\"op\":\"release\",\"resource\":\"%s\","
                           "\"fence\":%lld}",
                           spec_text(one, 2), json_integer_value(json_array_get(one, 3)));
            rig_say(rig, t_us, "$lab/request", text);
        } else if (strcmp(kind, "alive") == 0) {
            rig_say(rig, t_us, "p0/real/connection", "{\"state\":\"online\"}");
        } else {
            return false;
        }
    }
    return true;
}

/* Moves to places far from each other. */
static void give_positions(struct rig *rig)
{
    static struct team_position positions[64];
    struct team_spec *s = &rig->spec;
    for (size_t k = 0; k < s->p.name_count && k < COUNT(positions); k++) {
        positions[k] = (struct team_position){(uint16_t)k, 1.0 + (double)k, -2.0 * (double)k,
                                              nan("")};
    }
    s->p.positions = positions;
    s->p.position_count = s->p.name_count;
    for (size_t k = 0; k < s->p.task_count; k++) {
        s->tasks[k].to_position = strcmp(s->tasks[k].name, "Move") == 0;
    }
}

/* The trace of the file, without its white space. */
static char *golden_trace(const char *path)
{
    static char line[65536];
    char *text = malloc(RIG_TEXT);
    size_t used = 0;
    FILE *file = fopen(path, "r");
    CU_ASSERT_FATAL(file && text && fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        json_t *one = json_loads(line, 0, NULL);
        char *compact = json_dumps(one, JSON_COMPACT);
        used += (size_t)snprintf(text + used, RIG_TEXT - used, "%s\n", compact);
        free(compact);
        json_decref(one);
    }
    text[used] = '\0';
    (void)fclose(file);
    return text;
}

static void check_same(const char *row, const char *ours, const char *theirs)
{
    size_t at = 0;
    while (ours[at] && ours[at] == theirs[at]) {
        at++;
    }
    while (at > 0 && ours[at - 1] != '\n') {
        at--;
    }
    if (strcmp(ours, theirs) != 0) {
        (void)fprintf(stderr, "[%s]\n  ours:   %.300s\n  theirs: %.300s\n", row, ours + at,
                      theirs + at);
    }
    CHECK(row, strcmp(ours, theirs) == 0);
}

/* Another lab that gets the same messages: with ticks between them or without, and with the
 * state taken out and put into a third one before message `cut`. */
static void check_again(const struct rig *rig, bool ticks, size_t cut)
{
    static struct rig again;
    again = *rig;
    again.plain = true;
    again.log = malloc(RIG_TEXT);
    again.trace = malloc(RIG_TEXT);
    again.log_used = again.trace_used = 0;
    CU_ASSERT_FATAL(again.log && again.trace);
    rig_open_lab(&again);
    for (size_t k = 0; k < rig->journal_count; k++) {
        if (k == cut) {
            size_t bytes = 0;
            const void *state = lab_state(again.lab, &bytes);
            struct lab *old = again.lab;
            rig_open_lab(&again);
            CHECK_INT("load", lab_load(again.lab, state, bytes), STATUS_OK);
            free(old);
        }
        rig_take(&again, &rig->journal[k]);
        const int64_t next_us =
            k + 1 < rig->journal_count ? rig->journal[k + 1].t_us : LAB_TIME_MAX;
        if (ticks && rig->journal[k].t_us + 3 < next_us) {
            rig_tick(&again, rig->journal[k].t_us + 1);
            rig_tick(&again, rig->journal[k].t_us + 2);
        }
    }
    rig_tick(&again, lab_time(rig->lab));
    check_same("the same messages", again.log, rig->log);
    free(again.lab);
    free(again.log);
    free(again.trace);
}

/* Each command to a real robot has an id of its own. */
static void check_ids(const char *row, const struct rig *rig)
{
    static const char mark[] = "\"payload\":{\"id\":\"cell-";
    unsigned seen = 0;
    for (const char *at = rig->log; (at = strstr(at, mark)) != NULL; at++) {
        char id[80];
        (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 17, "\""), at + 17);
        unsigned count = 0;
        for (const char *b = rig->log; (b = strstr(b, mark)) != NULL; b++) {
            count += strncmp(b + 17, id, strlen(id)) == 0 && b[17 + strlen(id)] == '"' &&
                     strncmp(b + 18 + strlen(id), ",\"op\"", 5) == 0;
        }
        seen += strncmp(at + 18 + strlen(id), ",\"op\"", 5) == 0;
        CHECK(row, count == 0 || count == 2); /* to both robots, or a reply */
    }
    CHECK(row, seen == 2 * rig->commands);
}

static void check_golden(const char *name, bool moves)
{
    static struct rig rig;
    char path[64];
    (void)snprintf(path, sizeof path, "tests/golden/team/%s.jsonl", name);
    rig_init(&rig, path);
    if (moves) {
        give_positions(&rig);
    }
    rig.lap = golden_lap;
    rig.deaf = true; /* the traces are of such */
    rig_open_lab(&rig);
    rig_say(&rig, RIG_T0_US, "$lab/request", START);
    CHECK(name, say_script(&rig));
    rig_run(&rig, 5000);
    char *theirs = golden_trace(path);
    check_same(name, rig.trace, theirs);
    free(theirs);
    check_ids(name, &rig);
    check_again(&rig, false, SIZE_MAX);
    check_again(&rig, true, rig.journal_count / 2);
    rig_close(&rig);
}

static void test_goldens(void)
{
    static const char *const names[] = {
        "A", "B0_tie", "B_alternation", "C_timeout", "D_three_fifo", "E_deadlock_2",
        "E_deadlock_5_ring", "E_ring_at_once", "E_ring_ordered", "E_trap_meeting",
        "E_trap_mixed", "E_trap_ordered", "E_trap_small_free", "E_trap_small_ordered",
        "F_capacity_2", "F_priority", "G_owner_error_hold", "G_owner_error_release",
        "H_lease_kept", "I_wrong_unlock", "W_window", "class0", "class1", "class2", "class3",
        "class4", "class4_error", "class4_partner_lost", "class5", "class6_tool"};
    for (size_t i = 0; i < COUNT(names); i++) {
        check_golden(names[i], false);
    }
    check_golden("class3", true);
    check_golden("class5", true);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("crew", NULL, NULL);
    CU_add_test(suite, "golden traces through the lab", test_goldens);
    return check_run();
}
