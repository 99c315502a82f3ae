/* A complete machine, the example of docs/model/efsm.md, "How to write a machine". */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"

#include "twin/efsm/efsm.h"

enum lamp_state { LAMP_OFF, LAMP_ON, LAMP_STATE_COUNT };
enum lamp_cell { LAMP_UNTIL, LAMP_CELL_COUNT }; /* when the light goes out, us */

struct lamp_in {
    bool button; /* an event: present in cycle 0 only */
    double hold_us;
};

struct lamp_out {
    bool light;
};

static const struct lamp_in *lamp_in(const struct efsm_view *v)
{
    return v->in;
}

static bool lamp_pressed(const struct efsm_view *v)
{
    return lamp_in(v)->button;
}

static bool lamp_idle(const struct efsm_view *v)
{
    return !lamp_in(v)->button;
}

static bool lamp_over(const struct efsm_view *v)
{
    return lamp_idle(v) && (double)v->t_us >= efsm_get(v, LAMP_UNTIL);
}

static bool lamp_burning(const struct efsm_view *v)
{
    return lamp_idle(v) && !((double)v->t_us >= efsm_get(v, LAMP_UNTIL));
}

static void lamp_start(const struct efsm_view *v)
{
    efsm_set(v, LAMP_UNTIL, (double)v->t_us + lamp_in(v)->hold_us);
}

static void lamp_dark(const struct efsm_view *v)
{
    ((struct lamp_out *)v->out)->light = false;
}

static void lamp_bright(const struct efsm_view *v)
{
    ((struct lamp_out *)v->out)->light = true;
}

static const struct efsm_state lamp_states[LAMP_STATE_COUNT] = {
    [LAMP_OFF] = {.name = "OFF", .output = lamp_dark},
    [LAMP_ON] = {.name = "ON", .output = lamp_bright},
};

/* clang-format off */
static const struct efsm_arc lamp_arcs[] = {
    {LAMP_OFF, LAMP_ON,  lamp_pressed, lamp_start, .label = "button / until+ = t + hold"},
    {LAMP_OFF, LAMP_OFF, lamp_idle,    NULL,       .label = "no button", .waits = true},
    {LAMP_ON,  LAMP_ON,  lamp_pressed, lamp_start, .label = "button / until+ = t + hold"},
    {LAMP_ON,  LAMP_OFF, lamp_over,    NULL,       .label = "t >= until"},
    {LAMP_ON,  LAMP_ON,  lamp_burning, NULL,       .label = "t < until", .waits = true},
};
/* clang-format on */

static const char *const lamp_cells[LAMP_CELL_COUNT] = {[LAMP_UNTIL] = "until"};

static const struct efsm_table lamp_table = {
    .name = "Lamp",
    .purpose = "burns for a while after the button was pressed",
    .states = lamp_states,
    .state_count = COUNT(lamp_states),
    .arcs = lamp_arcs,
    .arc_count = COUNT(lamp_arcs),
    .cells = lamp_cells,
    .cell_count = COUNT(lamp_cells),
    .initial = LAMP_OFF,
};

struct lamp {
    struct efsm m;
    struct lamp_in in;
    struct lamp_out out;
    bool pressed; /* what came from outside since the last step */
};

static void lamp_sense(void *context, unsigned cycle, int64_t t_us)
{
    struct lamp *lamp = context;
    (void)t_us;
    lamp->in.button = cycle == 0 && lamp->pressed;
}

/* A lamp begins with efsm_reset() and its hold time; then one call per event or tick. */
static unsigned lamp_step(struct lamp *lamp, bool pressed, int64_t t_us)
{
    const struct efsm_machine machine = {
        .table = &lamp_table, .m = &lamp->m, .in = &lamp->in, .out = &lamp->out};
    const struct efsm_network net = {
        .machines = &machine, .count = 1, .sense = lamp_sense, .context = lamp};

    lamp->pressed = pressed;
    return efsm_run_instant(&net, t_us);
}

static void test_lamp(void)
{
    static const struct {
        const char *row;
        int64_t t_us;
        unsigned cycles;
        bool pressed, light;
    } rows[] = {
        {"dark", 0, 1, false, false},
        {"pressed: ON, then waits there", 10, 2, true, true},
        {"burning", 14, 1, false, true},
        {"pressed again", 15, 2, true, true},
        {"held on", 19, 1, false, true},
        {"out, then waits there", 20, 2, false, false},
        {"stays out", 100, 1, false, false},
    };
    struct lamp lamp = {.in.hold_us = 5.0};

    CHECK("well formed", efsm_check_table(&lamp_table) == NULL);
    efsm_reset(&lamp_table, &lamp.m, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row, lamp_step(&lamp, rows[i].pressed, rows[i].t_us), rows[i].cycles);
        CHECK_INT(rows[i].row, lamp.out.light, rows[i].light);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm example", NULL, NULL);
    CU_ADD_TEST(suite, test_lamp);
    return check_run();
}
