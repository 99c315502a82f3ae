/* service/sim/demo/demo_team.h - runs a team for `tandem demo --team FILE`. */
#ifndef SERVICE_SIM_DEMO_DEMO_TEAM_H
#define SERVICE_SIM_DEMO_DEMO_TEAM_H

#include "service/sim/demo/demo_stage.h"

/* Run the first team of the lab file with simulated diffdrive robots, a pair for each pair of
 * the file, placed at the end of its robot's sequence. It is started, shown until it has ended
 * (for_s > 0: at most this long), and compared with its prediction. Returns the exit status. */
int demo_team_run(struct demo_stage *stage, const char *file, double for_s);

#endif
