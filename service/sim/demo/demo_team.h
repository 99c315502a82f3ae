/* service/sim/demo/demo_team.h - a team at work, for `tandem demo --team FILE`. */
#ifndef SERVICE_SIM_DEMO_DEMO_TEAM_H
#define SERVICE_SIM_DEMO_DEMO_TEAM_H

#include "service/sim/demo/demo_stage.h"

/* The first team of the lab file: a pair of simulated diffdrive robots for each pair of the
 * file, each where its robot's sequence ends; started, told until it has ended (for_s > 0: at
 * most so long), and held against its prediction. The exit status. */
int demo_team_run(struct demo_stage *stage, const char *file, double for_s);

#endif
