/* config/option_file.h - from a text to values, and every fault in it. */
#ifndef CONFIG_OPTION_FILE_H
#define CONFIG_OPTION_FILE_H

#include "config/option.h"

/* What a sort of file is read by. */
struct option_file {
    /* Said of a file with nothing in it; NULL: it is read like any other, or left alone. */
    const char *empty;
    /* Reads the tree, whose root is there, into *values. */
    void (*read)(struct option_reader *r, void *values);
};

/* Parse text[bytes] as YAML and have it read. name is for messages. Faults are added to
 * *errors, which is sorted then; NULL: they are not told. STATUS_E_PARSE, STATUS_E_NOMEM, and
 * *values is of no use. Allocates meanwhile. */
MUST_USE enum status option_file_parse(const struct option_file *file, const char *text,
                                       size_t bytes, const char *name, void *values,
                                       struct err_list *errors);

#endif
