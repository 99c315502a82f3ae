/* The machines of a team: in every state and for every signal the engine, running the table,
 * does the same as the array of the team's step; where that has no arc, the engine stops. */
#include "tests/support/check.h"

#include "twin/team/step/team_machines.h"

static const struct {
    const struct efsm_table *table;
    const uint8_t *next; /* [states][signals] */
    size_t states, signals;
} machines_of_a_team[] = {
    {&team_robot_table, &team_robot_next[0][0], TEAM_PHASE_COUNT, ROBOT_SIGNAL_COUNT},
    {&team_task_table, &team_task_next[0][0], TASK_STATE_COUNT, TASK_SIGNAL_COUNT},
    {&team_activity_table, &team_activity_next[0][0], ACTIVITY_STATE_COUNT,
     ACTIVITY_SIGNAL_COUNT},
    {&team_resource_table, &team_unit_next[0][0], UNIT_STATE_COUNT, UNIT_SIGNAL_COUNT},
};

static uint8_t run_engine(const struct efsm_table *table, uint8_t state, unsigned signal)
{
    struct efsm m;
    efsm_reset(table, &m, 0);
    m.state = m.next = state;
    efsm_plan(table, &m, &signal, 1);
    efsm_update(table, &m, 1, 0, NULL, NULL);
    return m.state;
}

static void test_same_transitions(void)
{
    for (size_t k = 0; k < COUNT(machines_of_a_team); k++) {
        const struct efsm_table *table = machines_of_a_team[k].table;
        size_t arcs = 0;
        CHECK_INT(table->name, machines_of_a_team[k].states, table->state_count);
        for (uint8_t state = 0; state < table->state_count; state++) {
            for (unsigned signal = 0; signal < machines_of_a_team[k].signals; signal++) {
                const uint8_t next =
                    machines_of_a_team[k].next[state * machines_of_a_team[k].signals + signal];
                char row[96];
                (void)snprintf(row, sizeof row, "%s in %s, signal %u", table->name,
                               table->states[state].name, signal);
                const uint8_t rests = signal == 0 ? state : EFSM_INCOMPLETE;
                CHECK_INT(row, run_engine(table, state, signal), next ? next - 1 : rests);
                arcs += next != 0;
            }
        }
        /* Two arcs for one signal would be one in the array. */
        size_t moves = 0;
        for (size_t a = 0; a < table->arc_count; a++) {
            moves += !table->arcs[a].waits;
        }
        CHECK_INT(table->name, arcs, moves);
    }
}

/* The paper requires that only a reset leaves Error. */
static void test_error(void)
{
    for (size_t a = 0; a < team_robot_table.arc_count; a++) {
        const struct efsm_arc *arc = &team_robot_table.arcs[a];
        if (arc->from == TEAM_PHASE_ERROR && !arc->waits) {
            CHECK(arc->label, strncmp(arc->label, "reset", 5) == 0);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team machines", NULL, NULL);
    CU_ADD_TEST(suite, test_same_transitions);
    CU_ADD_TEST(suite, test_error);
    return check_run();
}
