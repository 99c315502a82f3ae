#include "logger/message/codec.h"

void codec_write_command(struct json_writer *w, const struct event_command *command)
{
    json_write_object(w, NULL);
    if (command->id[0]) {
        json_write_text(w, "id", command->id);
    }
    if (command->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", command->source_us);
    }
    json_write_text(w, "op", command->op);
    json_write_real(w, "rotation_rad", command->rotation_rad);
    json_write_real(w, "displacement_m", command->displacement_m);
    json_write_close(w);
}

void codec_write_reply(struct json_writer *w, const struct event_reply *reply)
{
    json_write_object(w, NULL);
    if (reply->id[0]) {
        json_write_text(w, "id", reply->id);
    }
    if (reply->source_start_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t_start", reply->source_start_us);
    }
    if (reply->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", reply->source_us);
    }
    if (reply->has_sim) {
        json_write_seconds(w, "sim_t", reply->sim_us);
    }
    json_write_text(w, "status", reply_status_name(reply->status));
    if (reply->value_count > 0) {
        json_write_object(w, "values");
        for (size_t i = 0; i < reply->value_count; i++) {
            if (reply->values[i].is_number) {
                json_write_real(w, reply->values[i].name, reply->values[i].number);
            }
        }
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_axes(struct json_writer *w, const char *key, const double *axes, size_t count)
{
    if (count == 0) {
        return;
    }
    json_write_array(w, key);
    for (size_t i = 0; i < count; i++) {
        json_write_real(w, NULL, axes[i]);
    }
    json_write_close(w);
}

void codec_write_telemetry(struct json_writer *w, const struct event_telemetry *telemetry)
{
    json_write_object(w, NULL);
    if (telemetry->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", telemetry->source_us);
    }
    if (telemetry->has_sim) {
        json_write_seconds(w, "sim_t", telemetry->sim_us);
    }
    if (telemetry->seq >= 0) {
        json_write_int(w, "seq", telemetry->seq);
    }
    if (telemetry->boot[0]) {
        json_write_text(w, "boot", telemetry->boot);
    }
    write_axes(w, "nu", telemetry->nu, telemetry->nu_count);
    write_axes(w, "tau", telemetry->tau, telemetry->tau_count);
    write_axes(w, "pose", telemetry->pose, telemetry->pose_count);
    json_write_close(w);
}

void codec_write_connection(struct json_writer *w, const struct event_connection *connection)
{
    json_write_object(w, NULL);
    json_write_text(w, "state", connection->online ? "online" : "offline");
    if (connection->boot[0]) {
        json_write_text(w, "boot", connection->boot);
    }
    if (connection->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", connection->source_us);
    }
    json_write_close(w);
}

void codec_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us)
{
    json_write_object(w, NULL);
    json_write_int(w, "probe", probe);
    json_write_seconds(w, "sent", sent_us);
    json_write_close(w);
}

void codec_write_echo(struct json_writer *w, const struct event_echo *echo)
{
    json_write_object(w, NULL);
    json_write_int(w, "probe", echo->probe);
    json_write_seconds(w, "sent", echo->sent_us);
    json_write_seconds(w, "t_received", echo->source_received_us);
    json_write_seconds(w, "t", echo->source_us);
    json_write_close(w);
}
