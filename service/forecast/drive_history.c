#include "service/forecast/drive_history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/text/utf8.h"
#include "config/options/option_file.h"
#include "service/tool/commands.h"
#include "web/http/address.h"

enum { ANSWER_MAX = 256 * 1024, TOKEN_MAX = 256, PATIENCE_S = 5 };

static bool report_fault(const struct http_options *http, const char *what)
{
    return complain("drive: --plan begins without the daemon's moves: %s port %u: %s",
                    http->bind, http->port, what);
}

/* Opens a connection; negative: errno says why not. */
static int connect_daemon(const struct http_options *http)
{
    const struct timeval patience = {PATIENCE_S, 0};
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    if (!address_parse(http->bind, http->port, &address, &bytes)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(fd, (const struct sockaddr *)&address, bytes) != 0) {
            const int fault = errno;
            (void)close(fd);
            errno = fault;
            return -1;
        }
    }
    return fd;
}

/* Reads the whole answer with a NUL; false: errno says why not. */
static bool ask_daemon(const struct http_options *http, const char *pair, char *answer)
{
    char token[TOKEN_MAX] = "";
    char request[512];
    size_t used = 0;
    ssize_t n = 0;
    if (http->token_file[0] && !text_file_first_line(http->token_file, token, sizeof token)) {
        token[0] = '\0'; /* reading on loopback needs none */
    }
    (void)snprintf(request, sizeof request,
                   "GET /api/v1/pairs/%s/travel-time?goal=0.02 HTTP/1.0\r\n"
                   "Host: localhost\r\n%s%s%s\r\n",
                   pair, token[0] ? "Authorization: Bearer " : "", token,
                   token[0] ? "\r\n" : "");
    const int fd = connect_daemon(http);
    if (fd < 0) {
        return false;
    }
    n = send(fd, request, strlen(request), MSG_NOSIGNAL);
    while (n > 0 && used < ANSWER_MAX - 1) {
        n = recv(fd, answer + used, ANSWER_MAX - 1 - used, 0);
        used += n > 0 ? (size_t)n : 0;
    }
    const int fault = errno;
    (void)close(fd);
    answer[used] = '\0';
    errno = fault;
    return n == 0;
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

bool drive_history_read(const struct http_options *http, const char *pair,
                        struct move_plan *plan)
{
    static char answer[ANSWER_MAX];
    char reason[80];
    if (http->tls_certificate[0]) {
        return report_fault(http, "it speaks HTTPS, which is not read here");
    }
    if (!ask_daemon(http, pair, answer)) {
        return report_fault(http, strerror_r(errno, reason, sizeof reason));
    }
    const char *body = strstr(answer, "\r\n\r\n");
    json_t *document = body ? json_loads(body + 4, 0, NULL) : NULL;
    const json_t *next = json_object_get(document, "next_move");
    const bool added = add_rows(json_object_get(next, "rows"), plan);
    json_decref(document);
    if (!added) {
        answer[strcspn(answer, "\r\n")] = '\0';
        return report_fault(http, utf8_tame(answer));
    }
    return true;
}
