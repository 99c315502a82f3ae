/* service/sim/robot/fleet_servers.c - prints addresses and counts of a simulated arm's servers
 * (Modbus TCP, RTDE). */
#include <inttypes.h>
#include <stdio.h>

#include "service/sim/robot/fleet_parts.h"
#include "service/tool/commands.h"

void fleet_print_server(const char *name, const char *where, bool writes)
{
    (void)printf("%s at %s%s\n", name, where, writes ? "" : ", read only");
    (void)fflush(stdout);
}

bool fleet_refuse_server(const char *option, const struct err *err)
{
    return complain("--%s %s: %s", option, err->where, err->text);
}

void fleet_print_clients(const struct tcp_counts *c)
{
    (void)printf("; clients turned away %" PRIu64 ", displaced %" PRIu64
                 ", closed for what they sent %" PRIu64 ", did not take %" PRIu64 "\n",
                 c->refused, c->displaced, c->broken, c->slow);
}
