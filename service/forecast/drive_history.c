#include "service/forecast/drive_history.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/client/daemon_client.h"
#include "service/tool/commands.h"
#include "web/http/address.h"

enum { URL_MAX = LAB_HOST_MAX + 32 };

/* A daemon that listens on every address answers on loopback. */
static void write_url(const struct http_options *http, char out[URL_MAX])
{
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    const bool six = strchr(http->bind, ':') != NULL;
    const bool any = address_parse(http->bind, http->port, &address, &bytes) &&
                     address_is_any((const struct sockaddr *)&address);
    (void)snprintf(out, URL_MAX, "%s://%s%s%s:%u", http->tls_certificate[0] ? "https" : "http",
                   six ? "[" : "",
                   !any  ? http->bind
                   : six ? "::1"
                         : "127.0.0.1",
                   six ? "]" : "", (unsigned)http->port);
}

static bool add_rows(const json_t *rows, struct move_plan *plan)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        const struct travel_move move = {json_number_value(json_array_get(row, 0)),
                                         json_number_value(json_array_get(row, 1)),
                                         json_number_value(json_array_get(row, 2))};
        move_plan_add(plan, &move, true);
    }
    return json_is_array(rows);
}

bool drive_history_read(const struct drive_daemon *daemon, const char *pair,
                        struct move_plan *plan)
{
    const struct http_options *http = daemon->http;
    const bool named = daemon->url || daemon->token_file;
    char url[URL_MAX];
    struct daemon_client client;
    if (!http->enabled && !daemon->url) {
        return complain("drive: --token-file: the lab file has no http, so --url was expected");
    }
    daemon_client_init(&client, "drive");
    write_url(http, url);
    client.url = daemon->url ? daemon->url : url;
    client.ca_file = daemon->ca_file            ? daemon->ca_file
                     : http->tls_certificate[0] ? http->tls_certificate
                                                : NULL;
    client.token_file = daemon->token_file;
    if (!client.token_file && access(http->token_file, R_OK) == 0) {
        client.token_file = http->token_file; /* reading on loopback needs none */
    }
    json_t *document = daemon_client_get(&client, "/pairs/%s/travel-time?goal=0.02", pair);
    const json_t *next = json_object_get(document, "next_move");
    const bool added = add_rows(json_object_get(next, "rows"), plan);
    json_decref(document);
    if (!added && named) {
        return complain("drive: %s: moves of the pair were expected from this daemon, no move "
                        "was sent",
                        daemon->url ? "--url" : "--token-file");
    }
    if (!added) {
        (void)complain("drive: --plan begins without the daemon's moves");
    }
    return true;
}
