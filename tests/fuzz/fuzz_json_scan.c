/* Our JSON reader against jansson's: both accept, or both refuse, apart from documented
 * differences; an accepted text has the same shape, names, texts and numbers in both.
 *
 * Known differences:
 * - ours refuses to nest deeper than JSON_SCAN_DEPTH_MAX, jansson deeper than 2048;
 * - ours refuses a number of more than 511 characters that needs exact rounding;
 * - jansson passes over a NUL byte behind a number or a word (its reader puts the byte back
 *   and then mistakes it for the end of its buffer), which ours refuses;
 * - jansson refuses "\u0000" in a name, which ours accepts;
 * - jansson has the option to refuse equal names (else the last one wins); ours emits each;
 * - jansson has the option to read whole numbers as reals: it would refuse large ones. */
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_BYTES_MAX = 1 << 16 };

static char fuzz_text[FUZZ_BYTES_MAX + 1];

static void fuzz_compare(struct json_scan *s, const json_t *value);

static void fuzz_compare_text(struct json_scan *s, const json_t *value)
{
    struct json_text text;
    const bool read = json_scan_text(s, &text);
    assert(read && json_is_string(value));
    const size_t bytes = json_text_copy(&text, fuzz_text, sizeof fuzz_text, false);
    assert(bytes == json_string_length(value));
    assert(memcmp(fuzz_text, json_string_value(value), bytes) == 0);
}

static void fuzz_compare_number(struct json_scan *s, const json_t *value)
{
    double number = 0.0;
    const bool read = json_scan_number(s, &number);
    assert(read && json_is_real(value));
    const double other = json_real_value(value);
    assert(memcmp(&number, &other, sizeof number) == 0);
}

static void fuzz_compare_object(struct json_scan *s, const json_t *value)
{
    struct json_text key;
    size_t count = 0;
    assert(json_is_object(value));
    bool read = json_scan_enter(s, JSON_KIND_OBJECT);
    assert(read);
    while (json_scan_next_member(s, &key)) {
        const size_t bytes = json_text_copy(&key, fuzz_text, sizeof fuzz_text, false);
        fuzz_text[bytes] = '\0';
        const json_t *member = json_object_get(value, fuzz_text);
        assert(member);
        fuzz_compare(s, member);
        count++;
    }
    read = !s->error;
    assert(read && count == json_object_size(value));
}

static void fuzz_compare_array(struct json_scan *s, const json_t *value)
{
    size_t count = 0;
    assert(json_is_array(value));
    const bool read = json_scan_enter(s, JSON_KIND_ARRAY);
    assert(read);
    while (json_scan_next_item(s)) {
        fuzz_compare(s, json_array_get(value, count));
        count++;
    }
    assert(!s->error && count == json_array_size(value));
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by JSON_SCAN_DEPTH_MAX */
static void fuzz_compare(struct json_scan *s, const json_t *value)
{
    bool flag = false;
    bool read = true;
    switch (json_scan_peek(s)) {
    case JSON_KIND_OBJECT:
        fuzz_compare_object(s, value);
        break;
    case JSON_KIND_ARRAY:
        fuzz_compare_array(s, value);
        break;
    case JSON_KIND_TEXT:
        fuzz_compare_text(s, value);
        break;
    case JSON_KIND_NUMBER:
        fuzz_compare_number(s, value);
        break;
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        read = json_scan_bool(s, &flag);
        assert(json_is_boolean(value) && flag == json_is_true(value));
        break;
    case JSON_KIND_NULL:
        read = json_scan_null(s);
        assert(json_is_null(value));
        break;
    case JSON_KIND_NONE:
        read = false;
        break;
    }
    assert(read);
}

/* Returns whether our reader refuses this for a known reason. */
static bool fuzz_ours_only(const struct json_scan *s)
{
    return (s->at < s->end && *s->at == '\0') || strcmp(s->error, "nested too deep") == 0 ||
           strcmp(s->error, "a number of at most 511 characters was expected") == 0;
}

/* Returns whether jansson refuses this for a known reason. */
static bool fuzz_theirs_only(const json_error_t *error)
{
    const enum json_error_code code = json_error_code(error);
    return code == json_error_null_byte_in_key || code == json_error_duplicate_key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_BYTES_MAX) {
        return 0;
    }
    const char *text = (const char *)data;
    struct json_scan s;
    json_error_t error;
    json_scan_start(&s, text, size, JSON_SCAN_DEPTH_MAX);
    const bool taken = json_scan_skip(&s, NULL, NULL) && json_scan_finish(&s);
    json_t *value = json_loadb(text, size,
                               JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL |
                                   JSON_REJECT_DUPLICATES,
                               &error);
    if (taken && value) {
        json_scan_start(&s, text, size, JSON_SCAN_DEPTH_MAX);
        fuzz_compare(&s, value);
    } else if (value) {
        assert(fuzz_ours_only(&s));
    } else if (taken) {
        assert(fuzz_theirs_only(&error));
    } else {
        assert(s.error && json_scan_column(&s) <= size + 1);
    }
    json_decref(value);
    return 0;
}
