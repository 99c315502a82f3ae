#include "twin/machines.h"

#include "twin/experiments/position_fsm.h"
#include "twin/following/following.h"
#include "twin/pair/link.h"
#include "twin/pair/smartlog.h"
#include "twin/robots/diffdrive_lidar.h"
#include "twin/robots/diffdrive_main.h"
#include "twin/robots/l1_executive.h"
#include "twin/robots/l2_mission.h"

const struct efsm_table *const machines[] = {
    &smartlog_table, &link_table, &dispatch_table,       &l0main_table,    &l0lidar_table,
    &l1_table,       &l2_table,   &efsm_executive_table, &following_table, &position_fsm_table,
};

const size_t machine_count = COUNT(machines);

static char lower_case(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_same(const char *a, const char *b)
{
    while (*a && lower_case(*a) == lower_case(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct efsm_table *machine_find(const char *name)
{
    for (size_t i = 0; i < machine_count; i++) {
        if (is_same(machines[i]->name, name)) {
            return machines[i];
        }
    }
    return NULL;
}
