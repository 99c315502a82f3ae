/* Any bytes over a connection to the real server, libmicrohttpd included: it answers without an
 * internal error, or hangs up, and frees the resources of each request. LeakSanitizer checks at
 * the end of the process, when the server has stopped. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fixture fixture;
static struct web *web;

static void stop_server(void)
{
    web_stop(web);
    assert(atomic_load(&fixture.acquired) == 0 && atomic_load(&fixture.uploads) == 0);
    fixture_close(&fixture);
}

static void start_server(void)
{
    if (!web) {
        fixture_open(&fixture, 4);
        web = fixture_serve(&fixture, "t", 1);
        (void)atexit(stop_server);
    }
}

/* The first answer, if one comes soon: libmicrohttpd leaves some requests without. */
static void check_answer(int fd)
{
    char line[16] = "";
    if (wait_input(fd, 100) && recv(fd, line, 12, MSG_WAITALL) == 12) {
        const long status = strtol(line + 9, NULL, 10);
        assert(status < 500 || status == 503 || status == 505);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    start_server();
    const int fd = http_connect(web_port(web));
    assert(fd >= 0);
    (void)http_send(fd, (const char *)data, size);
    (void)shutdown(fd, SHUT_WR);
    if (size % 2 == 0) { /* the others hang up at once */
        check_answer(fd);
    }
    (void)close(fd);
    return 0;
}
