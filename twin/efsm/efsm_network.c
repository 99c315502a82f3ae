/* twin/efsm/efsm_network.c - machines that step together: all of them in the same phase. */
#include <assert.h>
#include <stddef.h>

#include "twin/efsm/efsm.h"

void efsm_network_sense(const struct efsm_network *net, unsigned cycle, int64_t t_us)
{
    if (net->sense) {
        net->sense(net->context, cycle, t_us);
    }
}

bool efsm_network_plan(const struct efsm_network *net, int64_t t_us)
{
    bool blocked = false;

    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        if (!one->m->stopped) {
            efsm_plan(one->table, one->m, one->in, t_us);
            blocked |= one->m->blocked;
        }
    }
    return blocked;
}

void efsm_network_update(const struct efsm_network *net, int64_t t_us)
{
    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        efsm_update(one->table, one->m, t_us, one->number, one->stats, net->trace);
    }
}

void efsm_network_prime(const struct efsm_network *net, int64_t t_us)
{
    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        efsm_act(one->table, one->m, one->in, one->out, t_us);
    }
}

void efsm_network_act(const struct efsm_network *net, unsigned cycle, int64_t t_us)
{
    efsm_network_prime(net, t_us);
    if (net->commit) {
        net->commit(net->context, cycle, t_us);
    }
}

bool efsm_network_is_active(const struct efsm_network *net)
{
    bool running = false;

    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        if (one->m->stopped) {
            continue;
        }
        if (!efsm_is_active(one->table, one->m)) {
            return false;
        }
        running = true;
    }
    return running;
}

unsigned efsm_settle(const struct efsm_network *net, int64_t t_us)
{
    assert(net && (net->machines || net->count == 0));
    const unsigned cap = net->cycles_max ? net->cycles_max : EFSM_CYCLES_MAX;
    unsigned cycle = 0;

    while (cycle < cap && efsm_network_is_active(net)) {
        efsm_network_sense(net, cycle, t_us);
        const bool blocked = efsm_network_plan(net, t_us);
        efsm_network_update(net, t_us);
        efsm_network_act(net, cycle, t_us);
        cycle++;
        if (blocked) {
            break;
        }
    }
    return cycle;
}
