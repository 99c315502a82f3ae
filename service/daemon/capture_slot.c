#include "service/daemon/capture_slot.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/tool/json_file.h"

void capture_slot_path(const char *folder, const char *id, const char *end, char *path,
                       size_t room)
{
    (void)snprintf(path, room, "%s/%s.%s", folder, id, end);
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
    char path[LAB_PATH_MAX + CAPTURE_ID_MAX + 16];
    char part[sizeof path];
    capture_slot_path(folder, slot->id, "json", path, sizeof path);
    capture_slot_path(folder, slot->id, "part", part, sizeof part);
    FILE *out = fopen(part, "w");
    if (!out) {
        return false;
    }
    json_file_print(out, write_members, slot);
    const bool written = !ferror(out) && fflush(out) == 0 && fdatasync(fileno(out)) == 0;
    return (fclose(out) == 0) & written && rename(part, path) == 0;
}

static int64_t time_at(const json_t *object, const char *key)
{
    return lab_us(json_file_real(object, key));
}

bool capture_slot_load(struct capture_slot *slot, const char *folder, const char *name)
{
    char path[LAB_PATH_MAX + CAPTURE_ID_MAX + 16];
    const size_t n = strlen(name);
    if (n < 6 || n >= CAPTURE_ID_MAX || strcmp(name + n - 5, ".json") != 0) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *object = json_load_file(path, 0, NULL);
    *slot =
        (struct capture_slot){.n = (uint64_t)json_integer_value(json_object_get(object, "n")),
                              .t_us = time_at(object, "t"),
                              .from_us = time_at(object, "from"),
                              .until_us = time_at(object, "until"),
                              .open = json_is_true(json_object_get(object, "open")),
                              .complete = json_is_true(json_object_get(object, "complete"))};
    slot->bytes = (uint64_t)json_integer_value(json_object_get(object, "bytes"));
    (void)snprintf(slot->id, sizeof slot->id, "%.*s", (int)(n - 5), name);
    (void)snprintf(slot->pair, sizeof slot->pair, "%s", json_file_text(object, "pair"));
    (void)snprintf(slot->trigger, sizeof slot->trigger, "%s",
                   json_file_text(object, "trigger"));
    (void)snprintf(slot->version[SIDE_REAL], sizeof slot->version[0], "%s",
                   json_file_text(object, "real_version"));
    (void)snprintf(slot->version[SIDE_VIRTUAL], sizeof slot->version[0], "%s",
                   json_file_text(object, "virtual_version"));
    json_decref(object);
    return object && slot->pair[0] && slot->from_us != LAB_TIME_NONE &&
           slot->until_us != LAB_TIME_NONE;
}

void capture_slot_unlink(const struct capture_slot *slot, const char *folder)
{
    static const char *const ends[] = {"jsonl", "json", "raw", "part"};
    char path[LAB_PATH_MAX + CAPTURE_ID_MAX + 16];
    for (size_t i = 0; i < COUNT(ends); i++) {
        capture_slot_path(folder, slot->id, ends[i], path, sizeof path);
        (void)unlink(path);
    }
}
