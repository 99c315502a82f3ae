/* service/machine/machines_parts.h - subcommands of `tandem machines`; private to it. Each gets
 * its own name as argv[0]. */
#ifndef SERVICE_MACHINE_MACHINES_PARTS_H
#define SERVICE_MACHINE_MACHINES_PARTS_H

int machines_check(int argc, char **argv);
int machines_run(int argc, char **argv);
int machines_generate(int argc, char **argv);

#endif
