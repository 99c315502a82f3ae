#include "service/client/daemon_client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "config/options/option_file.h"
#include "service/client/http_get.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"

enum { TOKEN_MAX = 512, PATH_BYTES = 4096, DETAIL_MAX = 256 };

void daemon_client_init(struct daemon_client *client, const char *command)
{
    *client = (struct daemon_client){.command = command, .url = "http://127.0.0.1:8420"};
    /* clang-format off */
    const struct argument rows[DAEMON_CLIENT_ARGUMENTS] = {
        {"url", 0, ARGUMENT_TEXT, &client->url, 0, 0, "URL", "where it answers (http://127.0.0.1:8420)"},
        {"token-file", 0, ARGUMENT_TEXT, &client->token_file, 0, 0, "FILE",
         "its first line is the token, which other machines need"},
        {"ca-file", 0, ARGUMENT_TEXT, &client->ca_file, 0, 0, "FILE",
         "authorities for https (the system's)"},
    };
    /* clang-format on */
    memcpy(client->rows, rows, sizeof rows);
    client->group = (struct argument_group){"DAEMON", client->rows, DAEMON_CLIENT_ARGUMENTS};
}

bool daemon_client_accepts(const char *url, const char *command)
{
    struct err err = {0};
    if (http_check_url(url, &err) != STATUS_OK) {
        return complain("%s: --url: %s: %s", command, err.where, err.text);
    }
    return true;
}

static bool read_token(const struct daemon_client *client, char token[TOKEN_MAX])
{
    token[0] = '\0';
    if (client->token_file && !text_file_first_line(client->token_file, token, TOKEN_MAX)) {
        return complain("%s: %s: the token cannot be read: %s", client->command,
                        client->token_file, strerrordesc_np(errno));
    }
    return true;
}

/* Explains an answer that is none of 2xx, and one that is no JSON. */
static void report_answer(const struct daemon_client *client, const char *path, int status,
                          const json_t *problem)
{
    char detail[DETAIL_MAX];
    (void)snprintf(detail, sizeof detail, "%s", json_file_text(problem, "detail"));
    (void)fprintf(stderr, "tandem: %s: %s%s: ", client->command, client->url, path);
    if (detail[0]) {
        (void)fprintf(stderr, "%s%s\n", utf8_tame(detail),
                      status == 401 ? "; --token-file FILE names the file that has it" : "");
    } else {
        (void)fprintf(
            stderr, "the answer is none of a Tandem daemon (HTTP status %d); is --url right?\n",
            status);
    }
}

static json_t *get_document(const struct daemon_client *client, const char *path)
{
    char token[TOKEN_MAX];
    struct http_answer answer = {0};
    struct err err = {0};
    if (!read_token(client, token)) {
        return NULL;
    }
    const struct http_request request = {client->url, path, token, client->ca_file};
    if (http_get(&request, &answer, &err) != STATUS_OK) {
        complain("%s: %s: %s", client->command, err.where, err.text);
        return NULL;
    }
    json_t *document = json_loadb(answer.body, answer.bytes, 0, NULL);
    if (answer.status / 100 != 2 || !document) {
        report_answer(client, path, answer.status, document);
        json_decref(document);
        document = NULL;
    }
    free(answer.body);
    return document;
}

json_t *daemon_client_get(const struct daemon_client *client, const char *format, ...)
{
    char path[PATH_BYTES] = "/api/v1";
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(path + 7, sizeof path - 7, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof path - 7) {
        complain("%s: the request is too long", client->command);
        return NULL;
    }
    return get_document(client, path);
}
