#include "logger/storage/store_age.h"

#include <sqlite3.h>
#include <stddef.h>

#include "logger/storage/store_schema.h"

static int64_t query_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int64_t number = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW) {
        number = sqlite3_column_int64(query, 0);
    }
    (void)sqlite3_finalize(query);
    return number;
}

int64_t store_outdated_entries(const char *path)
{
    sqlite3 *db = NULL;
    int64_t entries = 0;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        const int64_t version =
            query_number(db, "SELECT value FROM meta WHERE key = 'schema_version'");
        if (version > 0 && version < STORE_SCHEMA_REWRITTEN) {
            entries = query_number(db, "SELECT max(seq) - min(seq) + 1 FROM entries");
        }
    }
    (void)sqlite3_close(db);
    return entries;
}
