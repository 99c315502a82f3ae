#include "logger/message/bar.h"

ENUM_NAMES(bar_kind, BAR_KIND_COUNT, BAR_KINDS(NAMES_TEXT));

void bar_write_json(struct json_writer *w, const char *key, const struct bar *bar)
{
    JSON_WRITE_OBJECT(
        w, key, JSON("kind", bar_kind_name(bar->kind)), JSON("robot", bar->robot),
        JSON_OPTIONAL("resource", bar->resource),
        JSON_OPTIONAL(bar->kind == BAR_MEET ? "meeting" : "task", bar->task),
        JSON_OPTIONAL("arg", bar->arg),
        JSON_IF(bar->number > 0, JSON(bar->resource[0] ? "fence" : "n", bar->number)),
        JSON_SECONDS("from", bar->from_us), JSON_SECONDS("to", bar->to_us),
        JSON_IF(bar->open, JSON("open", bar->open)),
        JSON_IF(
            bar->has_forecast,
            JSON_GROUP(
                JSON_SECONDS("predicted_from", bar->predicted_from_us),
                JSON_IF(bar->predicted_p05_us < bar->predicted_p95_us,
                        JSON_GROUP(JSON_SECONDS("predicted_p05", bar->predicted_p05_us),
                                   JSON_SECONDS("predicted_p95", bar->predicted_p95_us))))));
}
