#include "service/engine/engine_target.h"

#include <stdio.h>
#include <stdlib.h>

enum { PORT = 5432 };

struct place {
    char host[LAB_HOST_MAX];
    unsigned port;
};

/* Splits "db1:5432" or "[::1]:5432", which the lab file has checked. */
static struct place split_server(const char *text)
{
    struct place place = {.port = PORT};
    const bool bracket = text[0] == '[';
    const char *host = text + bracket;
    const size_t n = strcspn(host, bracket ? "]" : ":");
    const char *colon = strchr(host + n, ':');
    (void)snprintf(place.host, sizeof place.host, "%.*s", (int)n, host);
    if (colon) {
        place.port = (unsigned)strtoul(colon + 1, NULL, 10);
    }
    return place;
}

static enum status create_target(const struct engine_options *engine, size_t first,
                                 size_t count, const struct engine_user *user,
                                 struct postgresql_target **out, struct err *err)
{
    struct place places[LAB_SERVERS_MAX];
    struct postgresql_server servers[LAB_SERVERS_MAX];
    for (size_t i = 0; i < count; i++) {
        places[i] = split_server(engine->postgresql.servers[first + i]);
        servers[i] = (struct postgresql_server){places[i].host, places[i].port};
    }
    const char *file = user ? user->password_file : engine->postgresql.password_file;
    const char *ca_file = engine->postgresql.tls.ca_file;
    const struct postgresql_params params = {
        .servers = servers,
        .server_count = count,
        .database = user ? user->database : engine->postgresql.database,
        .user = user ? user->user : engine->postgresql.user,
        .password_file = file && file[0] ? file : NULL,
        .ca_file = ca_file[0] ? ca_file : NULL,
        .application = engine->instance,
        .any_encoding = user && user->any_encoding};
    return postgresql_target_create(&params, out, err);
}

enum status engine_target_create(const struct engine_options *engine,
                                 const struct engine_user *user, struct postgresql_target **out,
                                 struct err *err)
{
    return create_target(engine, 0, engine->postgresql.server_count, user, out, err);
}

enum status engine_target_create_one(const struct engine_options *engine, size_t server,
                                     struct postgresql_target **out, struct err *err)
{
    return create_target(engine, server, 1, NULL, out, err);
}
