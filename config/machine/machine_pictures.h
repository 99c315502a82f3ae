/* config/machine/machine_pictures.h - what machines from files look like, as SVG, for who shows them:
 * as they were drawn, those that were written with their states in a ring.
 */
#ifndef CONFIG_MACHINE_MACHINE_PICTURES_H
#define CONFIG_MACHINE_MACHINE_PICTURES_H

#include <stddef.h>

#include "base/errors/err.h"

enum { MACHINE_PICTURES_MAX = 32, MACHINE_PICTURE_NAME_MAX = 32 };

struct machine_picture {
    char name[MACHINE_PICTURE_NAME_MAX]; /* of the machine */
    char *svg;                           /* [bytes] owned */
    size_t bytes;
};

struct machine_pictures { /* all zero is empty */
    size_t count;
    struct machine_picture items[MACHINE_PICTURES_MAX];
};

/* Those of one more file, each machine under its name. STATUS_E_PARSE with one or more faults
 * when a machine of it has errors, or a name that is there; STATUS_E_NOMEM. Allocates. */
MUST_USE enum status machine_pictures_add(struct machine_pictures *pictures, const char *path,
                                          struct err_list *errors);

/* [*bytes]; NULL: there is none of this name. */
const char *machine_pictures_find(const struct machine_pictures *pictures, const char *name,
                                  size_t *bytes);

void machine_pictures_finish(struct machine_pictures *pictures);

#endif
