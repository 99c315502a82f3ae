/* logger/storage/store_schema.h - the tables of the store, version by version
 * (docs/storage.md).
 */
#ifndef LOGGER_STORAGE_STORE_SCHEMA_H
#define LOGGER_STORAGE_STORE_SCHEMA_H

enum {
    STORE_SCHEMA_VERSION = 13,
    STORE_SCHEMA_REWRITTEN = 12 /* the last version whose step rewrites all entries */
};

/* Step [v] updates a store from version v to v + 1, in a transaction. A released step never
 * changes. */
extern const char *const store_schema_steps[STORE_SCHEMA_VERSION];

/* Creates the file if missing, and denies access to the file and to SQLite's -wal and -shm to
 * all but owner and group, whatever the umask. An existing file is not opened, because closing
 * it would drop this process's locks on it. Failures are left to SQLite to report. path "":
 * does nothing. */
void store_close_to_others(const char *path);

#endif
