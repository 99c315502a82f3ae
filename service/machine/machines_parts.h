/* service/machine/machines_parts.h - what can be done with machines in files; nobody but
 * `tandem machines` includes it. Each gets its own word as argv[0]. */
#ifndef SERVICE_MACHINE_MACHINES_PARTS_H
#define SERVICE_MACHINE_MACHINES_PARTS_H

int machines_check(int argc, char **argv);
int machines_run(int argc, char **argv);
int machines_generate(int argc, char **argv);

#endif
