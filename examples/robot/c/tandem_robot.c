#include "tandem_robot.h"

#include <string.h>

/* ---- reading: one pass over a flat object ---- */

struct text {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_space(struct text *t)
{
    while (t->at < t->end && (unsigned char)*t->at <= ' ') {
        t->at++;
    }
}

static bool read_char(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c) {
        return false;
    }
    t->at++;
    return true;
}

/* Behind the quote that ends a text which began here. */
static bool skip_text(struct text *t)
{
    if (!read_char(t, '"')) {
        return false;
    }
    while (t->at < t->end && *t->at != '"') {
        t->at += *t->at == '\\' && t->end - t->at > 1 ? 2 : 1;
    }
    return read_char(t, '"');
}

/* Any value; *value is its text. What is within arrays and objects is passed over by their
 * brackets. */
static bool read_value(struct text *t, struct text *value)
{
    uint8_t depth = 0;
    skip_space(t);
    value->at = t->at;
    do {
        skip_space(t);
        if (t->at == t->end) {
            return false;
        }
        if (*t->at == '"') {
            if (!skip_text(t)) {
                return false;
            }
        } else if (*t->at == '{' || *t->at == '[') {
            t->at++;
            if (++depth > 8) {
                return false;
            }
        } else if (*t->at == '}' || *t->at == ']') {
            if (depth-- == 0) {
                return false;
            }
            t->at++;
        } else if (depth > 0 && (*t->at == ',' || *t->at == ':')) {
            t->at++;
        } else {
            const char *from = t->at;
            while (t->at < t->end &&
                   (is_digit(*t->at) || (*t->at >= 'a' && *t->at <= 'z') || *t->at == 'E' ||
                    *t->at == '+' || *t->at == '-' || *t->at == '.')) {
                t->at++;
            }
            if (t->at == from) {
                return false;
            }
        }
    } while (depth > 0);
    value->end = t->at;
    return true;
}

static bool is_text(const struct text *t, const char *quoted)
{
    const size_t n = strlen(quoted);
    return (size_t)(t->end - t->at) == n && memcmp(t->at, quoted, n) == 0;
}

/* Into to[size], terminated; false: no room. */
static bool copy_text(const struct text *t, char *to, uint8_t size)
{
    const size_t n = (size_t)(t->end - t->at);
    if (n >= size) {
        return false;
    }
    memcpy(to, t->at, n);
    to[n] = '\0';
    return true;
}

/* A number as JSON has it, in millionths: without floating point, up to 2147. *nonzero: or it
 * was before. */
static bool read_number(const struct text *t, float *value, bool *nonzero)
{
    const char *p = t->at;
    uint32_t digits = 0;
    uint8_t power = 0, point = 0;
    int8_t exponent = 6;
    const bool minus = *p == '-';
    p += minus;
    if (p == t->end || !is_digit(*p)) {
        return false;
    }
    for (; p < t->end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.' && point == 0) {
            point = 1;
        } else if (!is_digit(*p)) {
            return false;
        } else if (digits < 100000000UL) {
            digits = digits * 10 + (uint8_t)(*p - '0');
            exponent = (int8_t)(exponent > -28 ? exponent - point
                                               : exponent); /* it is nothing by then */
        } else if (point == 0) {
            return false;
        }
    }
    if (p < t->end && ++p < t->end) {
        const bool below = *p == '-';
        for (p += below || *p == '+'; p < t->end && is_digit(*p); p++) {
            power = power < 10 ? (uint8_t)(power * 10 + (*p - '0')) : power;
        }
        exponent = (int8_t)(below ? exponent - power : exponent + power);
    }
    for (; exponent < 0; exponent++) {
        digits /= 10;
    }
    for (; exponent > 0 && digits > 0 && digits < INT32_MAX / 10; exponent--) {
        digits *= 10;
    }
    *value = (float)digits * (minus ? -1e-6f : 1e-6f);
    *nonzero = *nonzero || digits > 0;
    return p == t->end && (exponent <= 0 || digits == 0) && digits <= INT32_MAX;
}

/* Each member in turn; false at the end, and where it is no object: then it never is_over(). */
static bool next_member(struct text *t, struct text *name, struct text *value, bool first)
{
    if (!read_char(t, first ? '{' : ',')) {
        return false;
    }
    skip_space(t);
    name->at = t->at;
    if (skip_text(t)) {
        name->end = t->at;
        if (read_char(t, ':') && read_value(t, value)) {
            return true;
        }
    }
    t->end = t->at;
    return false;
}

static bool is_over(struct text *t)
{
    if (!read_char(t, '}')) {
        return false;
    }
    skip_space(t);
    return t->at == t->end;
}

static bool read_command(struct text t, struct tandem_command *c)
{
    struct text name, value;
    memset(c, 0, sizeof *c);
    for (bool first = true; next_member(&t, &name, &value, first); first = false) {
        bool fine = true;
        if (is_text(&name, "\"id\"") && *value.at != 'n') {
            fine = copy_text(&value, c->id, sizeof c->id);
        } else if (is_text(&name, "\"op\"")) {
            fine = *value.at++ == '"';
            value.end--;
            fine = fine && copy_text(&value, c->op, sizeof c->op);
        } else {
            float *number = is_text(&name, "\"rotation_rad\"")     ? &c->rotation_rad
                            : is_text(&name, "\"displacement_m\"") ? &c->displacement_m
                                                                   : NULL;
            fine = !number || read_number(&value, number, &c->moves);
        }
        if (!fine) {
            return false;
        }
    }
    return is_over(&t) && c->op[0];
}

/* ---- writing ---- */

static void append_char(struct tandem_robot *r, char c)
{
    if (r->used < TANDEM_ROOM) {
        r->room[r->used++] = c;
    }
}

static void append_text(struct tandem_robot *r, const char *text)
{
    while (*text) {
        append_char(r, *text++);
    }
}

/* Writes `least` digits or more, with a point before the last ones. */
static void append_digits(struct tandem_robot *r, uint32_t value, uint8_t least,
                          uint8_t decimals)
{
    char digits[13];
    char *p = digits + sizeof digits - 1;
    uint8_t n = 0;
    *p = '\0';
    do {
        if (n > 0 && n == decimals) {
            *--p = '.';
        }
        *--p = (char)('0' + value % 10);
        value /= 10;
    } while (++n < least || value > 0);
    append_text(r, p);
}

static void append_time(struct tandem_robot *r, const struct tandem_time *t)
{
    append_digits(r, t->s, 1, 0);
    append_char(r, '.');
    append_digits(r, t->us, 6, 0);
}

/* Six decimals, three from 1000 on, none from a million on. What is no number, or too large,
 * makes the message none. */
static void append_number(struct tandem_robot *r, float value)
{
    uint8_t decimals = 0;
    if (value < 0.0f) {
        value = -value;
        append_char(r, '-');
    }
    for (; value < 1e6f && decimals < 6; decimals = (uint8_t)(decimals + 3)) {
        value *= 1e3f;
    }
    if (value < 1.07e9f) { /* quarters, to be rounded without floating point */
        append_digits(r, ((uint32_t)(value * 4.0f) + 2) / 4, (uint8_t)(decimals + 1), decimals);
    } else {
        r->used = TANDEM_ROOM;
    }
}

static void append_numbers(struct tandem_robot *r, const float *number, uint8_t count)
{
    for (uint8_t k = 0; k < count; k++) {
        if (k > 0) {
            append_char(r, ',');
        }
        append_number(r, number[k]);
    }
}

static void append_item(struct tandem_robot *r, char item)
{
    struct tandem_time now;
    const char *text = r->said.id;
    switch (item) {
    case 's':
        text = r->said.status;
        break;
    case 'b':
        text = r->has->boot;
        break;
    case 'v':
        text = r->has->version ? r->has->version : "";
        break;
    case 'n':
        now = r->has->now(r->has->context);
        append_time(r, &now);
        return;
    case 't':
        append_time(r, r->said.t);
        return;
    case 'q':
        append_digits(r, r->seq++, 1, 0);
        return;
    case 'u':
        append_numbers(r, r->said.nu, r->said.nu_count);
        return;
    case 'f':
        append_numbers(r, r->said.tau, r->said.tau_count);
        return;
    case 'p':
        append_numbers(r, r->pose, 3);
        return;
    default:
        if (item >= 'x') {
            append_numbers(r, &r->pose[item - 'x'], 1);
            return;
        }
    }
    append_text(r, text);
}

/* The payload in the form's words, "%c" in it for an item; and to whoever it is for. */
static void send_form(struct tandem_robot *r, const char *word, uint8_t qos, bool retained,
                      const char *form)
{
    for (r->used = 0; *form; form++) {
        if (*form == '%') {
            append_item(r, *++form);
        } else {
            append_char(r, *form);
        }
    }
    if (r->used < TANDEM_ROOM) {
        r->room[r->used] = '\0';
        if (r->has->send(r->has->context, word, r->room, r->used, qos, retained)) {
            return;
        }
    }
    r->dropped++;
}

/* ---- the protocol ---- */

static void reply(struct tandem_robot *r, const struct tandem_command *c, const char *status,
                  const struct tandem_time *started)
{
    r->said.id = c->id[0] ? c->id : "null";
    r->said.status = status;
    r->said.t = started;
    send_form(r, "reply", 1, false,
              "{\"id\":%i,\"status\":\"%s\",\"t_start\":%t,\"t\":%n,\"values\":{\"x_m\":%x,\"y_"
              "m\":%y,\"psi_rad\":%z}}");
}

void tandem_end(struct tandem_robot *r, const char *status)
{
    if (r->busy) {
        r->busy = false;
        reply(r, &r->command, status, &r->started);
    }
}

static void apply_command(struct tandem_robot *r, const struct tandem_command *c,
                          const struct tandem_time *received)
{
    const char *status = "ignored";
    if (strcmp(c->op, "halt") == 0) {
        if (r->busy) {
            status = "done";
        }
        r->has->stop(r->has->context);
        tandem_end(r, "halted");
    } else if (r->busy) {
        if (c->id[0] && strcmp(c->id, r->command.id) == 0) {
            return; /* it came again, and is in work */
        }
    } else if (strcmp(c->op, "go") == 0 && !c->moves) {
        status = "done";
    } else {
        r->command = *c;
        r->started = r->has->now(r->has->context);
        r->busy = r->has->begin(r->has->context, &r->command);
        if (r->busy) {
            return;
        }
        status = "error";
    }
    reply(r, c, status, received);
}

static bool echo(struct tandem_robot *r, struct text t, const struct tandem_time *received)
{
    struct text name, value, probe = {NULL, NULL};
    char number[17];
    for (bool first = true; next_member(&t, &name, &value, first); first = false) {
        if (is_text(&name, "\"probe\"")) {
            probe = value;
        }
    }
    if (!is_over(&t) || !probe.at || !is_digit(*probe.at) ||
        !copy_text(&probe, number, sizeof number)) {
        return false;
    }
    r->said.id = number;
    r->said.t = received;
    send_form(r, "echo", 1, false, "{\"probe\":%i,\"t_received\":%t,\"t\":%n}");
    return true;
}

void tandem_receive(struct tandem_robot *r, const char *word, const char *payload,
                    uint16_t bytes, struct tandem_time received)
{
    const struct text t = {payload, payload + bytes};
    if (strcmp(word, "probe") == 0) {
        if (!echo(r, t, &received)) {
            r->dropped++;
        }
    } else if (strcmp(word, "command") == 0) {
        struct tandem_command c;
        if (read_command(t, &c)) {
            apply_command(r, &c, &received);
        } else {
            r->dropped++;
        }
    }
}

void tandem_sample(struct tandem_robot *r, struct tandem_time t, const float *nu,
                   uint8_t nu_count, const float *tau, uint8_t tau_count)
{
    r->said.t = &t;
    r->said.nu = nu;
    r->said.nu_count = nu_count;
    r->said.tau = tau;
    r->said.tau_count = tau_count;
    send_form(r, "telemetry", 0, false,
              "{\"t\":%t,\"seq\":%q,\"nu\":[%u],\"tau\":[%f],\"pose\":[%p]}");
}

void tandem_online(struct tandem_robot *r)
{
    send_form(r, "connection", 1, true,
              "{\"state\":\"online\",\"boot\":\"%b\",\"version\":\"%v\",\"t\":%n}");
}

struct tandem_time tandem_ms(uint32_t ms)
{
    return (struct tandem_time){ms / 1000, ms % 1000 * 1000};
}
