#include "logger/message/bar.h"

ENUM_NAMES(bar_kind, BAR_KIND_COUNT, BAR_KINDS(NAMES_TEXT));

static void write_name(struct json_writer *w, const char *key, const char *name)
{
    if (name[0] != '\0') {
        json_write_text(w, key, name);
    }
}

void bar_write_json(struct json_writer *w, const char *key, const struct bar *bar)
{
    json_write_object(w, key);
    json_write_text(w, "kind", bar_kind_name(bar->kind));
    json_write_text(w, "robot", bar->robot);
    write_name(w, "resource", bar->resource);
    write_name(w, bar->kind == BAR_MEET ? "meeting" : "task", bar->task);
    write_name(w, "arg", bar->arg);
    if (bar->number > 0) {
        json_write_int(w, bar->resource[0] != '\0' ? "fence" : "n", (int64_t)bar->number);
    }
    json_write_seconds(w, "from", bar->from_us);
    json_write_seconds(w, "to", bar->to_us);
    if (bar->open) {
        json_write_bool(w, "open", true);
    }
    if (bar->has_forecast) {
        json_write_seconds(w, "predicted_from", bar->predicted_from_us);
        json_write_seconds(w, "predicted_p05", bar->predicted_p05_us);
        json_write_seconds(w, "predicted_p95", bar->predicted_p95_us);
    }
    json_write_close(w);
}
