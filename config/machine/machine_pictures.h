/* config/machine/machine_pictures.h - SVG pictures of machines from files: drawings as drawn,
 * YAML machines with their states in a ring.
 */
#ifndef CONFIG_MACHINE_MACHINE_PICTURES_H
#define CONFIG_MACHINE_MACHINE_PICTURES_H

#include <stddef.h>

#include "base/errors/err.h"

enum { MACHINE_PICTURES_MAX = 32, MACHINE_PICTURE_NAME_MAX = 32 };

struct machine_picture {
    char name[MACHINE_PICTURE_NAME_MAX]; /* the machine's name */
    char *svg;                           /* [bytes] owned */
    size_t bytes;
};

struct machine_pictures { /* all zero is empty */
    size_t count;
    struct machine_picture items[MACHINE_PICTURES_MAX];
};

/* Add the pictures of one more file. STATUS_E_PARSE with one or more faults when a machine has
 * errors or its name exists already; STATUS_E_NOMEM. Allocates. */
MUST_USE enum status machine_pictures_add(struct machine_pictures *pictures, const char *path,
                                          struct err_list *errors);

/* Find the SVG by a machine's name; NULL: there is none. */
const char *machine_pictures_find(const struct machine_pictures *pictures, const char *name,
                                  size_t *bytes);

void machine_pictures_finish(struct machine_pictures *pictures);

#endif
