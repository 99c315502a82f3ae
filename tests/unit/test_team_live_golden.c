/* The golden traces of teams, through the lab: it does what they prescribe. */
#include "tests/support/team_live_rerun.h"

/* Other events: releases by people, signs of life. */
static bool send_script(struct rig *rig)
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
            rig_queue(rig, t_us, "$lab/request", text);
        } else if (strcmp(kind, "alive") == 0) {
            rig_queue(rig, t_us, "p0/real/connection", "{\"state\":\"online\"}");
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
        positions[k] = (struct team_position){.name = (uint16_t)k,
                                              .robot = TEAM_NONE,
                                              .x_m = 1.0 + (double)k,
                                              .y_m = -2.0 * (double)k,
                                              .heading_rad = nan("")};
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

/* Each command to a real robot has its own id. */
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
    rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
    CHECK(name, send_script(&rig));
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
    static const char *const names[] = {"A",
                                        "B0_tie",
                                        "B_alternation",
                                        "C_timeout",
                                        "D_three_fifo",
                                        "E_deadlock_2",
                                        "E_deadlock_5_ring",
                                        "E_ring_at_once",
                                        "E_ring_ordered",
                                        "E_trap_meeting",
                                        "E_trap_mixed",
                                        "E_trap_ordered",
                                        "E_trap_small_free",
                                        "E_trap_small_ordered",
                                        "F_capacity_2",
                                        "F_priority",
                                        "G_owner_error_hold",
                                        "G_owner_error_release",
                                        "H_lease_kept",
                                        "I_wrong_unlock",
                                        "W_window",
                                        "class0",
                                        "class1",
                                        "class2",
                                        "class3",
                                        "class4",
                                        "class4_error",
                                        "class4_partner_lost",
                                        "class5",
                                        "class6_tool"};
    for (size_t i = 0; i < COUNT(names); i++) {
        check_golden(names[i], false);
    }
    check_golden("class3", true);
    check_golden("class5", true);
}

/* The twins take half as long again: so would the team, had they been the robots. */
static void test_makespans(void)
{
    static const struct {
        const char *name;
        double slower, real_s, virtual_s;
    } rows[] = {{"class3", 1.5, 70.0, 105.0},
                {"class3", 1.0, 70.0, 70.0},
                {"class5", 1.5, 90.0, 135.0},
                {"class4", 2.0, 55.5, 111.0},
                {"class0", 0.5, 51.0, 25.5}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct rig rig;
        char path[64];
        (void)snprintf(path, sizeof path, "tests/golden/team/%s.jsonl", rows[i].name);
        rig_init(&rig, path);
        rig.lap = golden_lap;
        rig.slower = rows[i].slower;
        rig_open_lab(&rig);
        rig_queue(&rig, RIG_T0_US, "$lab/request", TEAM_LIVE_START);
        rig_run(&rig, 5000);
        CHECK_INT(rows[i].name, rig.result.number, 1);
        CHECK_NEAR(rows[i].name, lab_s(rig.result.real_us), rows[i].real_s, 0.0, 1e-9);
        CHECK_NEAR(rows[i].name, lab_s(rig.result.virtual_us), rows[i].virtual_s, 0.0, 1e-9);
        check_again(&rig, true, rig.journal_count / 3);
        rig_close(&rig);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("crew golden", NULL, NULL);
    CU_add_test(suite, "golden traces through the lab", test_goldens);
    CU_add_test(suite, "makespans", test_makespans);
    return check_run();
}
