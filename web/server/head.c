#include "web/server/head.h"

#include <string.h>
#include <strings.h>

/* token of RFC 9110, 5.6.2 */
static bool is_token(const char *text)
{
    static const char allowed[] = "!#$%&'*+-.^_`|~0123456789"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return text[0] && text[strspn(text, allowed)] == '\0';
}

void head_begin(struct head *head, const char *method, const char *url, size_t url_bytes,
                const char *version, size_t bytes)
{
    head->torn = method + strlen(method) + 1 != url || url + url_bytes + 1 != version;
    head->next = version + strlen(version) + 2;
    head->end = method + bytes;
}

static const char CONTROLS[] = "\1\2\3\4\5\6\a\b\n\v\f\r\16\17\20\21\22\23\24\25\26\27"
                               "\30\31\32\33\34\35\36\37\177"; /* without the tab */

void head_add(struct head *head, const char *name, const char *value)
{
    if (head->next) {
        const char *blanks = name + strlen(name) + 1;
        head->torn = head->torn || name != head->next || !value ||
                     blanks + strspn(blanks, " \t") != value;
        head->next = value ? value + strlen(value) + 2 : head->next;
    }
    head->misnamed = head->misnamed || !is_token(name);
    head->unprintable = head->unprintable || (value && value[strcspn(value, CONTROLS)]);
    if (strcasecmp(name, "Host") == 0) {
        head->hosts++;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        head->lengths++;
    } else if (strcasecmp(name, "Authorization") == 0) {
        head->authorizations++;
    } else if (strcasecmp(name, "Origin") == 0) {
        head->origins++;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        head->encodings++;
        head->other_coding = head->other_coding || !value || strcasecmp(value, "chunked") != 0;
    }
}

const char *head_fault(const struct head *head, const char *version)
{
    const bool old = version && strcmp(version, "HTTP/1.0") == 0;
    if (!version || strncmp(version, "HTTP/1.", 7) != 0) {
        return "the request line: 'GET /path HTTP/1.1' would be right";
    }
    if (head->misnamed) {
        return "the name of a header has invalid characters; no space is allowed before its "
               "':'";
    }
    if (head->torn || (head->next && head->next + 2 != head->end)) {
        return "a NUL, a line that ends without CR, or a header that goes on in the next line: "
               "lines of one header each, ended by CR LF, would be right";
    }
    if (head->unprintable) {
        return "a control character in the value of a header";
    }
    if (head->authorizations > 1) {
        return "more than one Authorization: one would be right";
    }
    if (head->origins > 1) {
        return "more than one Origin: one would be right";
    }
    if (head->hosts > 1 || (head->hosts == 0 && !old)) {
        return "one Host is needed, no more and no less";
    }
    if (head->lengths > 1) {
        return "more than one Content-Length: one would be right";
    }
    if (head->encodings > 0 && head->lengths > 0) {
        return "both Content-Length and Transfer-Encoding: one of them would be right";
    }
    if (head->encodings > 1 || head->other_coding || (head->encodings > 0 && old)) {
        return "Transfer-Encoding: 'chunked' alone, once, in HTTP/1.1 would be right";
    }
    return NULL;
}
