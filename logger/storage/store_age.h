/* logger/storage/store_age.h - whether a store is of an older version, before it is opened and
 * brought up to date, which takes as long as it has rows. */
#ifndef LOGGER_STORAGE_STORE_AGE_H
#define LOGGER_STORAGE_STORE_AGE_H

#include <stdint.h>

/* So long at most takes bringing one entry up to date, on slow machines. */
enum { STORE_UPDATE_ROW_US = 200 };

/* The entries of the store in this file that store_open() will have to rewrite; 0: none, or no
 * store that can be read, of which store_open() then says what is wrong. */
int64_t store_outdated_entries(const char *path);

#endif
