/* logger/storage/store_schema.h - the tables of the store, version by version
 * (docs/storage.md). */
#ifndef LOGGER_STORAGE_STORE_SCHEMA_H
#define LOGGER_STORAGE_STORE_SCHEMA_H

enum {
    STORE_SCHEMA_VERSION = 12,
    STORE_SCHEMA_REWRITTEN = 12 /* the last version whose step goes through all entries */
};

/* [v] takes a store of version v to version v + 1, in a transaction. Once released a step never
 * changes. */
extern const char *const store_schema_steps[STORE_SCHEMA_VERSION];

/* Makes the file unless it is there, and closes it and what SQLite makes beside it (-wal, -shm,
 * as the file is) to everybody but its owner and its group, whatever the umask and whoever made
 * it. It is never opened when it is there: to close it again would end all locks of this
 * process on it. What cannot be changed, SQLite or its owner will tell. path "": nothing. */
void store_close_to_others(const char *path);

#endif
