/* web/resource/page.c: every file of the dashboard is served, tagged, compressed, under a
 * strict policy.
 */
#include "tests/support/check.h"

#include "tests/support/http.h"
#include "tests/support/scratch.h"
#include "tests/support/web_fixture.h"
#include "twin/machines.h"
#include "web/resource/page.h"
#include "web/server/dispatch.h"

static struct fixture fixture;
static struct web *web;

static struct http_reply get_page(const char *path, const char *headers)
{
    return http_request(web_port(web), "GET", path, headers, NULL);
}

static bool has_bytes(const struct http_reply *reply, const unsigned char *bytes, size_t n)
{
    return reply->body_bytes == n && memcmp(reply->body, bytes, n) == 0;
}

static void path_of(const struct page_file *file, char path[64])
{
    (void)snprintf(path, 64, "/page/%s", file->name);
}

static void test_every_file(void)
{
    for (size_t i = 0; i < page_file_count; i++) {
        const struct page_file *file = &page_files[i];
        char path[64];
        char wanted[128];
        path_of(file, path);
        struct http_reply reply = get_page(path, "");
        CHECK_INT(path, reply.status, 200);
        CHECK(path, has_bytes(&reply, file->bytes, file->size));
        (void)snprintf(wanted, sizeof wanted, "Content-Type: %s\r\n", file->media_type);
        CHECK(path, strstr(reply.head, wanted));
        (void)snprintf(wanted, sizeof wanted, "ETag: %s\r\n", file->etag);
        CHECK(path, strstr(reply.head, wanted));
        CHECK(path, strstr(reply.head, "Cache-Control: no-cache\r\n"));
        CHECK(path, strstr(reply.head, "Vary: Accept-Encoding\r\n"));
        CHECK(path, !strstr(reply.head, "Content-Encoding"));
        http_free(&reply);
    }
}

static void test_index(void)
{
    const struct page_file *index = page_find("index.html");
    struct http_reply reply = get_page("/", "");
    CHECK_INT("/", reply.status, 200);
    CHECK("/", index && has_bytes(&reply, index->bytes, index->size));
    CHECK("/", strstr(reply.head,
                      "Content-Security-Policy: default-src 'none'; script-src 'self';"));
    CHECK("/", !strstr(reply.head, "unsafe"));
    CHECK("/", strstr(reply.head, "X-Content-Type-Options: nosniff\r\n"));
    CHECK("/", strstr(reply.head, "Referrer-Policy: no-referrer\r\n"));
    http_free(&reply);
}

static void test_conditional(void)
{
    const struct page_file *file = page_find("style.css");
    char headers[128];
    (void)snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", file->etag);
    struct http_reply reply = get_page("/page/style.css", headers);
    CHECK_INT("same", reply.status, 304);
    CHECK_INT("same", reply.body_bytes, 0);
    http_free(&reply);
    (void)snprintf(headers, sizeof headers, "If-None-Match: %s\r\nAccept-Encoding: gzip\r\n",
                   file->etag);
    reply = get_page("/page/style.css", headers);
    CHECK_INT("the other form", reply.status, 200);
    http_free(&reply);
}

/* Decompresses bytes with gzip(1) into out. Returns their number. */
static size_t run_gunzip(const unsigned char *bytes, size_t n, char *out, size_t out_max)
{
    char path[SCRATCH_MAX];
    char command[32 + SCRATCH_MAX];
    const int fd = mkstemp(scratch_template(path, "page"));
    size_t got = 0;
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n) {
        abort();
    }
    (void)close(fd);
    (void)snprintf(command, sizeof command, "gzip -dc <%s", path);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
    if (pipe) {
        got = fread(out, 1, out_max, pipe);
        CHECK_INT(command, pclose(pipe), 0);
    }
    (void)unlink(path);
    return got;
}

static void test_gzip(void)
{
    for (size_t i = 0; i < page_file_count; i++) {
        const struct page_file *file = &page_files[i];
        char path[64];
        path_of(file, path);
        struct http_reply reply = get_page(path, "Accept-Encoding: br, gzip;q=0.5\r\n");
        char *plain = malloc(file->size + 1);
        CHECK_INT(path, reply.status, 200);
        CHECK(path, strstr(reply.head, "Content-Encoding: gzip\r\n"));
        CHECK(path, strstr(reply.head, file->gzip_etag));
        CHECK(path, strcmp(file->etag, file->gzip_etag) != 0);
        CHECK(path, has_bytes(&reply, file->gzip, file->gzip_size));
        CHECK_INT(path, run_gunzip(file->gzip, file->gzip_size, plain, file->size + 1),
                  file->size);
        CHECK(path, memcmp(plain, file->bytes, file->size) == 0);
        free(plain);
        http_free(&reply);
    }
}

static void test_unknown(void)
{
    static const char *const paths[] = {
        "/page/",     "/page/none.js", "/page/../style.css", "/page/.style.css",
        "/style.css", "/index.html",   "/page/style.css/",   "/page"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct http_reply reply = get_page(paths[i], "");
        CHECK_INT(paths[i], reply.status, 404);
        CHECK(paths[i], strstr(reply.head, "application/problem+json"));
        http_free(&reply);
    }
}

static void test_accepts_gzip(void)
{
    static const struct {
        const char *header;
        bool accepts;
    } rows[] = {
        {"", false},          {"gzip", true},          {"GZIP", true},
        {"deflate", false},   {"deflate, gzip", true}, {"gzip;q=0", false},
        {"gzip; q=0", false}, {"gzip;q=0.1,br", true}, {"xgzip", false},
        {"gzipx", false},     {"br;q=1, gzip ", true}, {"identity", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].header, dispatch_accepts_gzip(rows[i].header), rows[i].accepts);
    }
}

/* `before` NAME `after`, wherever a file has that: NAME is a file as well. Returns how many. */
static int check_names(const struct page_file *file, const char *before, char after)
{
    const char *text = (const char *)file->bytes;
    const char *end = text + file->size;
    int count = 0;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), before, strlen(before)));) {
        char name[64] = "";
        p += strlen(before);
        const char *close = memchr(p, after, (size_t)(end - p));
        CHECK(file->name, close && close - p < (ptrdiff_t)sizeof name);
        memcpy(name, p, close ? (size_t)(close - p) : 0);
        CHECK(name, page_find(name));
        count++;
    }
    return count;
}

static void test_what_files_name(void)
{
    int count = 0;
    for (size_t i = 0; i < page_file_count; i++) {
        if (strncmp(page_files[i].name, "dygraph", 7) != 0) {
            count += check_names(&page_files[i], "\"page/", '"');
            count += check_names(&page_files[i], "from \"./", '"');
            count += check_names(&page_files[i], "import(\"./", '"');
        }
    }
    CHECK("something is named", count > 40);
}

/* Text never becomes markup, which the policy of the page would not stop. */
static void test_no_markup(void)
{
    for (size_t i = 0; i < page_file_count; i++) {
        const struct page_file *file = &page_files[i];
        if (strncmp(file->name, "dygraph", 7) != 0) {
            CHECK(file->name, !memmem(file->bytes, file->size, "innerHTML", 9));
            CHECK(file->name, !memmem(file->bytes, file->size, "outerHTML", 9));
            CHECK(file->name, !memmem(file->bytes, file->size, "insertAdjacent", 14));
        }
    }
}

/* Every state of every machine has its own node in the diagrams. */
static void test_diagrams(void)
{
    const struct page_file *file = page_find("machines.html");
    CU_ASSERT_FATAL(file != NULL);
    char *text = calloc(1, file->size + 1);
    CU_ASSERT_FATAL(text != NULL);
    memcpy(text, file->bytes, file->size);
    for (size_t i = 0; i < machine_count; i++) {
        for (size_t k = 0; k < machines[i]->state_count; k++) {
            char node[128];
            (void)snprintf(node, sizeof node, "<g id=\"%s.%s\" class=\"node\">",
                           machines[i]->name, machines[i]->states[k].name);
            CHECK(node, strstr(text, node));
        }
    }
    free(text);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, 1);
    web = fixture_serve(&fixture, NULL, 1);
    CU_pSuite suite = CU_add_suite("page", NULL, NULL);
    CU_add_test(suite, "every file", test_every_file);
    CU_add_test(suite, "index", test_index);
    CU_add_test(suite, "diagrams", test_diagrams);
    CU_add_test(suite, "diagrams", test_diagrams);
    CU_add_test(suite, "conditional", test_conditional);
    CU_add_test(suite, "gzip", test_gzip);
    CU_add_test(suite, "unknown", test_unknown);
    CU_add_test(suite, "accept-encoding", test_accepts_gzip);
    CU_add_test(suite, "what files name", test_what_files_name);
    CU_add_test(suite, "no markup", test_no_markup);
    const int result = check_run();
    web_stop(web);
    fixture_close(&fixture);
    return result;
}
