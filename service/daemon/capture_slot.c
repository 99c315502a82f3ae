#include "service/daemon/capture_slot.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/tool/json_file.h"

struct capture_path capture_slot_path(const char *folder, const char *id, const char *end)
{
    struct capture_path path;
    (void)snprintf(path.text, sizeof path.text, "%s/%s.%s", folder, id, end);
    return path;
}

void capture_slot_write(const struct capture_slot *slot, struct json_writer *w)
{
    JSON_WRITE(w, JSON("id", slot->id), JSON("pair", slot->pair), JSON_WHOLE("n", slot->n),
               JSON("trigger", slot->trigger), JSON_SECONDS("t", slot->t_us),
               JSON_SECONDS("from", slot->from_us), JSON_SECONDS("until", slot->until_us),
               JSON_WHOLE("bytes", slot->bytes), JSON_BOOL("open", slot->open),
               JSON_BOOL("complete", slot->complete),
               JSON_OPTIONAL("real_version", slot->version[SIDE_REAL]),
               JSON_OPTIONAL("virtual_version", slot->version[SIDE_VIRTUAL]));
}

static void write_members(const void *what, struct json_writer *w)
{
    capture_slot_write(what, w);
}

bool capture_slot_save(const struct capture_slot *slot, const char *folder)
{
    const struct capture_path path = capture_slot_path(folder, slot->id, "json");
    const struct capture_path part = capture_slot_path(folder, slot->id, "part");
    FILE *out = fopen(part.text, "w");
    if (!out) {
        return false;
    }
    json_file_print(out, write_members, slot);
    const bool written = !ferror(out) && fflush(out) == 0 && fdatasync(fileno(out)) == 0;
    return (fclose(out) == 0) & written && rename(part.text, path.text) == 0;
}

static int64_t time_at(const json_t *object, const char *key)
{
    return lab_us(json_file_real(object, key));
}

bool capture_slot_load(struct capture_slot *slot, const char *folder, const char *name)
{
    const size_t n = strlen(name);
    if (n < 6 || n >= CAPTURE_ID_MAX || strcmp(name + n - 5, ".json") != 0) {
        return false;
    }
    char id[CAPTURE_ID_MAX];
    (void)snprintf(id, sizeof id, "%.*s", (int)(n - 5), name);
    json_t *object = json_load_file(capture_slot_path(folder, id, "json").text, 0, NULL);
    *slot = (struct capture_slot){
        .n = (uint64_t)json_integer_value(json_object_get(object, "n")),
        .t_us = time_at(object, "t"),
        .from_us = time_at(object, "from"),
        .until_us = time_at(object, "until"),
        .bytes = (uint64_t)json_integer_value(json_object_get(object, "bytes")),
        .open = json_is_true(json_object_get(object, "open")),
        .complete = json_is_true(json_object_get(object, "complete"))};
    (void)snprintf(slot->id, sizeof slot->id, "%s", id);
    (void)snprintf(slot->pair, sizeof slot->pair, "%s", json_file_text(object, "pair"));
    (void)snprintf(slot->trigger, sizeof slot->trigger, "%s",
                   json_file_text(object, "trigger"));
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        (void)snprintf(
            slot->version[s], sizeof slot->version[s], "%s",
            json_file_text(object, s == SIDE_REAL ? "real_version" : "virtual_version"));
    }
    json_decref(object);
    return object && slot->pair[0] && slot->from_us != LAB_TIME_NONE &&
           slot->until_us != LAB_TIME_NONE;
}

void capture_slot_unlink(const struct capture_slot *slot, const char *folder)
{
    static const char *const ends[] = {"jsonl", "json", "raw", "part"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        (void)unlink(capture_slot_path(folder, slot->id, ends[i]).text);
    }
}
