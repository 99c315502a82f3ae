/* Sketches: with --words sentences become names of states; without, each is reported once, and
 * no message has a word of the program's inside. */
#include "tests/support/check.h"

#include "config/drawing/drawing.h"
#include "twin/machine/machine_checks.h"

#define SHAPE(id, style, text, x)                                                              \
    "<mxCell id='" id "' value='" text "' style='" style                                       \
    "' vertex='1' parent='1'><mxGeometry x='" x                                                \
    "' y='100' width='120' height='50' as='geometry'/></mxCell>"
#define ARROW(id, text, from, to)                                                              \
    "<mxCell id='" id "' value='" text "' edge='1' parent='1' " from " target='" to            \
    "'><mxGeometry relative='1' as='geometry'><mxPoint x='20' y='20' as='sourcePoint'/>"       \
    "</mxGeometry></mxCell>"

static struct machine *machine;
static void *scratch;

static void read_two(const char *first, const char *second, bool words)
{
    char file[4096];
    struct drawing *drawing = NULL;
    struct err err = {0};
    (void)snprintf(file, sizeof file,
                   "<mxfile><diagram name='p'><mxGraphModel><root><mxCell id='0'/>"
                   "<mxCell id='1' parent='0'/>" SHAPE("a", "rounded=1;html=1;", "%s", "100")
                       SHAPE("b", "ellipse;", "%s", "400") ARROW("s", "", "", "a")
                           ARROW("e", "", "source='a'", "b")
                               ARROW("f", "go asked", "source='b'",
                                     "a") "</root></mxGraphModel></diagram></mxfile>",
                   first, second);
    CHECK_INT(first, drawing_open(file, strlen(file), &drawing, &err), STATUS_OK);
    memset(machine, 0, sizeof *machine);
    drawing_read_page(drawing, 0, words, &machine->draft);
    if (machine_build(machine) == STATUS_OK) {
        machine_check(machine, scratch);
    }
    drawing_free(drawing);
}

static size_t count_code(const char *code)
{
    const struct machine_diagnostics *d = &machine->draft.diagnostics;
    size_t n = 0;
    for (size_t k = 0; k < d->count; k++) {
        n += strcmp(d->items[k].code, code) == 0;
        CHECK(d->items[k].text, !strstr(d->items[k].text, "badname"));
    }
    return n;
}

static void test_words(void)
{
    static const struct {
        const char *first, *second, *names[2];
        size_t bad; /* names that are none without --words */
    } rows[] = {
        {"Drive ahead", "Idle", {"drive_ahead", "Idle"}, 1},
        {"Make a turn!", "Wait, then go", {"make_a_turn", "wait_then_go"}, 2},
        {"Fährt weiter", "HALT", {"fährt_weiter", "HALT"}, 1},
        {"Stop&#xa;n = 1", "go - back", {"Stop", "go_back"}, 1},
        {"Wait until somebody opens the door again", "A", {NULL, "A"}, 1},
        {"- !", "A", {NULL, "A"}, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t named = 0;
        size_t given = 0;
        read_two(rows[i].first, rows[i].second, true);
        for (size_t k = 0; k < 2; k++) {
            given += rows[i].names[k] != NULL;
            for (size_t s = 0; rows[i].names[k] && s < machine->draft.state_count; s++) {
                named += strcmp(machine->draft.states[s].name, rows[i].names[k]) == 0;
            }
        }
        CHECK_INT(rows[i].first, named, given);
        CHECK_INT(rows[i].first, count_code("E-STATE-NAME"), 2 - given);
        CHECK_INT(rows[i].first, count_code("N-WORDS"),
                  rows[i].bad - (2 - given) + 1);
        read_two(rows[i].first, rows[i].second, false);
        CHECK_INT(rows[i].first, count_code("E-STATE-NAME"), rows[i].bad);
        CHECK_INT(rows[i].first, count_code("E-TARGET"), 0);
    }
}

int main(void)
{
    machine = calloc(1, sizeof *machine);
    scratch = malloc(machine_checks_bytes());
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("drawing_words", NULL, NULL);
    CU_add_test(suite, "words in place of names", test_words);
    const int exit_status = check_run();
    free(machine);
    free(scratch);
    return exit_status;
}
