/* logger/storage/store_schema.h - the tables of the store, version by version
 * (docs/storage.md). */
#ifndef LOGGER_STORAGE_STORE_SCHEMA_H
#define LOGGER_STORAGE_STORE_SCHEMA_H

enum { STORE_SCHEMA_VERSION = 6 };

/* [v] takes a store of version v to version v + 1, in a transaction. Once released a step never
 * changes. */
extern const char *const store_schema_steps[STORE_SCHEMA_VERSION];

#endif
