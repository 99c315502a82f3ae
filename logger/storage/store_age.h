/* logger/storage/store_age.h - the age of a store: how many entries an update would rewrite,
 * before it is opened.
 */
#ifndef LOGGER_STORAGE_STORE_AGE_H
#define LOGGER_STORAGE_STORE_AGE_H

#include <stdint.h>

/* Longest time to rewrite one entry on a slow machine. */
enum { STORE_UPDATE_ROW_US = 200 };

/* Counts the entries that store_open() will have to rewrite. 0: none, or the store cannot be
 * read; store_open() then reports why. */
int64_t store_outdated_entries(const char *path);

#endif
