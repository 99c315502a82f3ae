/* tests/support/vda5050_rig.h - a lab of a file, its codecs, and what goes out of it. */
#ifndef TESTS_SUPPORT_VDA5050_RIG_H
#define TESTS_SUPPORT_VDA5050_RIG_H

#include "tests/support/check.h"

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "service/replay/replay.h"

enum { TEXT_BYTES = 1 << 16 };

struct rig {
    struct lab_file file;
    struct lab *lab;
    struct codec_set set;
    char text[TEXT_BYTES], sent[TEXT_BYTES];
    size_t used, sent_count;
    struct event last;
    uint64_t events, contradictions;
};

static inline void record_sent(void *context, const char *pair, const char *topic,
                               const char *payload, size_t bytes)
{
    struct rig *r = context;
    (void)snprintf(r->sent, sizeof r->sent, "%s %s %.*s", pair, topic, (int)bytes, payload);
    r->sent_count++;
}

static inline void start_rig(struct rig *r, const char *yaml)
{
    struct err_list errors = {0};
    static char room[MESSAGE_PAYLOAD_MAX];
    memset(r, 0, sizeof *r);
    CU_ASSERT_EQUAL_FATAL(lab_file_parse(yaml, strlen(yaml), "lab", &r->file, &errors),
                          STATUS_OK);
    const struct lab_params params = lab_file_params(&r->file);
    r->lab = lab_memory_create(&params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r->lab);
    lab_codecs(r->lab, &r->set);
    r->set.sink = (struct codec_sink){
        .send = record_sent, .send_context = r, .room = room, .room_bytes = sizeof room};
}

static inline void end_rig(struct rig *r)
{
    lab_memory_destroy(r->lab);
    lab_file_free(&r->file);
}

#endif
