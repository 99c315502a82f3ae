/* RTDE: frames as bytes, both sides of the conversation, versions, wrong frames, and the server
 * with clients that stop in the middle. threads */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "service/wire/rtde_client.h"
#include "service/wire/rtde_server.h"
#include "service/wire/rtde_session.h"

static json_t *golden;

static size_t read_hex(const char *text, uint8_t *out)
{
    size_t n = 0;
    for (; text[2 * n]; n++) {
        unsigned byte = 0;
        CU_ASSERT_EQUAL_FATAL(sscanf(text + 2 * n, "%2x", &byte), 1);
        out[n] = (uint8_t)byte;
    }
    return n;
}

static void check_bytes(const char *row, const uint8_t *got, size_t bytes, const char *hex)
{
    uint8_t want[4096];
    const size_t n = read_hex(hex, want);
    CHECK_INT(row, bytes, n);
    CHECK(row, bytes == n && memcmp(got, want, n) == 0);
}

static const char *golden_hex(const char *name)
{
    return json_string_value(json_object_get(json_object_get(golden, "frames"), name));
}

/* --- a session without sockets ----------------------------------------------------------- */

struct talk {
    struct rtde_session session;
    struct rtde_shared shared;
    uint8_t bytes[4 * RTDE_FRAME_MAX];
    struct rtde_out out;
};

static void begin_talk(struct talk *t)
{
    memset(t, 0, sizeof *t);
    t->shared.hz_max = 125.0;
}

static void add_frame(struct talk *t, const uint8_t *bytes, size_t count)
{
    struct rtde_frame frame;
    CU_ASSERT_EQUAL_FATAL(rtde_frame_next(bytes, count, &frame), (ssize_t)count);
    t->out = (struct rtde_out){.bytes = t->bytes, .room = sizeof t->bytes};
    rtde_session_receive(&t->session, &t->shared, &frame, &t->out);
    CU_ASSERT_FALSE(t->out.overflow);
}

static void add_hex(struct talk *t, const char *hex)
{
    uint8_t bytes[4096];
    add_frame(t, bytes, read_hex(hex, bytes));
}

/* A frame of a type with a payload of text behind `numbers` bytes. */
static void add_text(struct talk *t, char type, const uint8_t *numbers, size_t count,
                     const char *text)
{
    uint8_t payload[4096];
    uint8_t bytes[RTDE_FRAME_MAX];
    struct rtde_out out = {.bytes = bytes, .room = sizeof bytes};
    if (count > 0) {
        memcpy(payload, numbers, count);
    }
    memcpy(payload + count, text, strlen(text));
    rtde_frame_write(&out, (uint8_t)type, payload, count + strlen(text));
    add_frame(t, bytes, out.used);
}

static void check_answer(const char *row, const struct talk *t, char type, bool numbered,
                         int recipe, const char *types)
{
    struct rtde_frame frame = {0};
    CHECK_INT(row, rtde_frame_next(t->bytes, t->out.used, &frame), t->out.used);
    CHECK_INT(row, frame.type, type);
    if (numbered) {
        CHECK_INT(row, frame.payload[0], recipe);
    }
    CHECK_INT(row, frame.bytes, numbered + strlen(types));
    CHECK(row, memcmp(frame.payload + numbered, types, strlen(types)) == 0);
}

static void read_numbers(const json_t *array, double *out)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        out[i] = json_real_value(json_array_get(array, i));
    }
}

static void test_golden(void)
{
    struct talk t;
    struct rtde_outputs values = {0};
    begin_talk(&t);
    add_hex(&t, golden_hex("request_version_2"));
    check_bytes("version", t.bytes, t.out.used, golden_hex("version_accepted"));
    add_hex(&t, "000376");
    check_bytes("controller", t.bytes, t.out.used, golden_hex("controller_version"));
    const uint8_t hz[8] = {0x40, 0x5f, 0x40};
    add_text(&t, 'O', hz, 8, "timestamp,nobody_knows");
    check_bytes("unknown", t.bytes, t.out.used, golden_hex("unknown_name_reply"));
    add_hex(&t, golden_hex("start"));
    check_bytes("nothing to start", t.bytes, t.out.used, "00045300");
    add_hex(&t, golden_hex("setup_outputs_125Hz"));
    check_bytes("setup", t.bytes, t.out.used, golden_hex("setup_outputs_reply"));
    add_hex(&t, golden_hex("start"));
    check_bytes("start", t.bytes, t.out.used, golden_hex("started"));
    const json_t *data = json_object_get(json_object_get(golden, "frames"), "data_values");
    values.timestamp = json_real_value(json_object_get(data, "timestamp"));
    read_numbers(json_object_get(data, "actual_q"), values.actual_q);
    t.out.used = 0;
    rtde_session_send(&t.session, &values, &t.out);
    check_bytes("data", t.bytes, t.out.used, golden_hex("data"));
    CHECK_INT("frames", t.shared.malformed, 0);
}

/* The whole of UR's record recipe, forth and back. */
static void test_record_recipe(void)
{
    static const char names[] =
        "timestamp,target_q,target_qd,target_qdd,target_current,target_moment,actual_q,actual_"
        "qd,"
        "actual_current,joint_control_output,actual_TCP_pose,actual_TCP_speed,actual_TCP_force,"
        "target_TCP_pose,target_TCP_speed,actual_digital_input_bits,joint_temperatures,"
        "actual_execution_time,robot_mode,joint_mode,safety_mode,actual_tool_accelerometer,"
        "speed_scaling,target_speed_fraction,actual_momentum,actual_main_voltage,"
        "actual_robot_voltage,actual_robot_current,actual_joint_voltage,"
        "actual_digital_output_bits,runtime_state,output_int_register_0";
    static const char types[] =
        "DOUBLE,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,"
        "VECTOR6D,"
        "VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,VECTOR6D,UINT64,VECTOR6D,DOUBLE,INT32,"
        "VECTOR6INT32,"
        "INT32,VECTOR3D,DOUBLE,DOUBLE,DOUBLE,DOUBLE,DOUBLE,DOUBLE,VECTOR6D,UINT64,UINT32,INT32";
    struct rtde_recipe recipe;
    char got[1024];
    CHECK("found",
          rtde_recipe_read(&rtde_output_table, names, strlen(names), &recipe, got, sizeof got));
    CHECK_TEXT("types", got, types);
    CHECK_INT("fields", recipe.count, 32);
    /* 8 DOUBLE, 16 VECTOR6D, VECTOR3D, 2 UINT64, 3 of 32 bits, VECTOR6INT32 */
    CHECK_INT("bytes", recipe.bytes, 8 * 8 + 16 * 48 + 24 + 16 + 4 * 4 + 24);
    struct rtde_outputs values;
    struct rtde_outputs back;
    uint8_t *bytes = (uint8_t *)&values;
    for (size_t i = 0; i < sizeof values; i++) {
        bytes[i] = (uint8_t)(31 * i + 7);
    }
    memset(&back, 0, sizeof back);
    uint8_t wire[RTDE_FRAME_MAX];
    rtde_pack(&recipe, &values, wire);
    rtde_unpack(&recipe, wire, &back);
    for (size_t i = 0; i < recipe.count; i++) {
        const size_t at = recipe.item[i].at;
        CHECK("value", memcmp((uint8_t *)&values + at, (uint8_t *)&back + at, 4) == 0);
    }
    CHECK("all six", memcmp(values.actual_joint_voltage, back.actual_joint_voltage, 48) == 0);
    CHECK("not asked for", back.safety_status_bits == 0);
}

static void test_names(void)
{
    static const struct {
        const char *name;
        bool found;
    } rows[] = {{"timestamp", true},
                {"timestamp_", false},
                {"timestam", false},
                {"", false},
                {"output_int_register_0", true},
                {"output_int_register_23", true},
                {"output_int_register_24", true},
                {"output_int_register_47", true},
                {"output_int_register_48", false},
                {"output_bit_register_63", false},
                {"output_bit_register_64", true},
                {"input_bit_register_127", true},
                {"input_bit_register_128", false},
                {"input_bit_registers0_to_31", true},
                {"output_int_register_", false},
                {"output_int_register_01", false},
                {"output_int_register_1x", false},
                {"output_int_register_-1", false},
                {"output_double_register_9", true},
                {"input_int_register_1", true},
                {"external_force_torque", false},
                {"actual_TCP_pose", true},
                {"actual_tcp_pose", false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtde_item item;
        CHECK_INT(rows[i].name,
                  rtde_find(&rtde_output_table, rows[i].name, strlen(rows[i].name), &item),
                  rows[i].found);
    }
}

/* Finds the names of UR's guide one by one, a register by its first and last number; those that
 * the public ROS 2 driver asks for together, as it does. */
static void test_guide(void)
{
    static const struct {
        const char *what;
        unsigned first, last;
    } registers[] = {{"bit", 64, 127}, {"int", 0, 47}, {"double", 0, 47}};
    char line[128], asked[2][2048] = {"", ""}, types[2048];
    size_t names = 0;
    FILE *in = fopen(TANDEM_SOURCE_DIR "/tests/golden/arm/rtde_names.csv", "r");
    CU_ASSERT_FATAL(in != NULL && fgets(line, sizeof line, in) != NULL);
    for (; fgets(line, sizeof line, in); names++) {
        char direction[16], name[64], type[16], by_driver[8] = "";
        (void)sscanf(line, "%15[^,],%63[^,],%15[^,],%7s", direction, name, type, by_driver);
        const bool output = strcmp(direction, "output") == 0;
        const struct rtde_table *table = output ? &rtde_output_table : &rtde_input_table;
        struct rtde_item item[2];
        const size_t stem = strlen(name) - 1;
        if (name[stem] != 'X') {
            CHECK(name, rtde_find(table, name, stem + 1, &item[0]));
        }
        for (size_t k = 0; name[stem] == 'X' && k < COUNT(registers); k++) {
            char numbered[2][80];
            if (!strstr(name, registers[k].what)) {
                continue;
            }
            (void)snprintf(numbered[0], 80, "%.*s%u", (int)stem, name, registers[k].first);
            (void)snprintf(numbered[1], 80, "%.*s%u", (int)stem, name, registers[k].last);
            CHECK(name, rtde_find(table, numbered[0], strlen(numbered[0]), &item[0]));
            CHECK(name, rtde_find(table, numbered[1], strlen(numbered[1]), &item[1]));
            CHECK(name, item[1].at > item[0].at && item[1].type == item[0].type);
        }
        CHECK_TEXT(name, rtde_type_names[item[0].type], type);
        if (by_driver[0] == 'y') {
            (void)snprintf(strchr(asked[output], 0), 80, "%s%s", asked[output][0] ? "," : "",
                           name);
        }
    }
    (void)fclose(in);
    CHECK_INT("names", names, 93);
    for (size_t k = 0; k < 2; k++) {
        struct rtde_recipe recipe;
        CHECK(asked[k], rtde_recipe_read(k ? &rtde_output_table : &rtde_input_table, asked[k],
                                         strlen(asked[k]), &recipe, types, sizeof types));
        CHECK_INT("fields of the driver", recipe.count, k ? 26 : 12);
    }
}

/* Values of one byte, and every input variable owned at once. */
static void test_small_types(void)
{
    static const char names[] = "tool_output_mode,input_bit_register_65,timestamp,"
                                "standard_digital_output";
    struct talk t;
    struct rtde_outputs values = {.timestamp = 2.0, .tool_output_mode = 200}, back = {0};
    struct rtde_recipe recipe;
    char types[256];
    uint8_t wire[32];
    values.in.input_bit_register[1] = 1;
    CHECK("no output", !rtde_recipe_read(&rtde_output_table, names, strlen(names), &recipe,
                                         types, sizeof types));
    CHECK_TEXT("types", types, "UINT8,BOOL,DOUBLE,NOT_FOUND");
    CHECK_INT("bytes", recipe.bytes, 10);
    rtde_pack(&recipe, &values, wire);
    check_bytes("wire", wire, 10, "c8014000000000000000");
    rtde_unpack(&recipe, wire, &back);
    CHECK_INT("byte", back.tool_output_mode, 200);
    CHECK("bit", back.in.input_bit_register[1] == 1 && back.in.input_bit_register[0] == 0);

    begin_talk(&t);
    t.session.version = 2;
    size_t owned = 0;
    for (size_t i = 0; i < rtde_input_table.count; i++) {
        const struct rtde_field *f = &rtde_input_table.fields[i];
        for (int k = 0; k < (f->registers ? f->registers : 1); k++, owned++) {
            char name[64];
            (void)snprintf(name, sizeof name, f->registers ? "%s%d" : "%s", f->name,
                           f->first + k);
            t.session.input_count = 0;
            add_text(&t, 'I', NULL, 0, name);
            check_answer(name, &t, 'I', true, 1, rtde_type_names[f->type]);
        }
    }
    CHECK_INT("all of them", owned, RTDE_OWNED_MAX);
}

static void test_version_1(void)
{
    struct talk t;
    struct rtde_outputs values = {.timestamp = 100.5};
    begin_talk(&t);
    add_text(&t, 'O', NULL, 0, "timestamp,robot_mode");
    check_answer("types", &t, 'O', false, 0, "DOUBLE,INT32");
    add_hex(&t, "000353");
    check_bytes("start", t.bytes, t.out.used, "00045301");
    values.robot_mode = -2;
    t.out.used = 0;
    rtde_session_send(&t.session, &values, &t.out);
    check_bytes("data", t.bytes, t.out.used, "000f554059200000000000fffffffe");
    add_hex(&t, "0005560003");
    check_bytes("version 3", t.bytes, t.out.used, "00045600");
    CHECK_INT("still", t.session.version, 0);
    add_hex(&t, "0005560001");
    check_bytes("version 1", t.bytes, t.out.used, "00045601");
}

static void test_inputs(void)
{
    struct talk t;
    struct rtde_session other = {0};
    struct rtde_session *const mine = &t.session;
    begin_talk(&t);
    t.session.version = 2;
    add_text(&t, 'I', NULL, 0, "input_int_register_0,speed_slider_mask");
    check_answer("first", &t, 'I', true, 1, "INT32,UINT32");
    add_text(&t, 'I', NULL, 0, "input_double_register_47");
    check_answer("second", &t, 'I', true, 2, "DOUBLE");
    add_text(&t, 'I', NULL, 0, "input_double_register_48,input_int_register_1");
    check_answer("unknown", &t, 'I', true, 0, "NOT_FOUND,INT32");
    add_text(&t, 'I', NULL, 0, "input_int_register_1,input_int_register_0");
    check_answer("its own", &t, 'I', true, 0, "INT32,IN_USE");
    add_hex(&t, "000c55010000002a00000001");
    CHECK_INT("register", t.shared.inputs.input_int_register[0], 42);
    CHECK_INT("mask", t.shared.inputs.speed_slider_mask, 1);
    add_hex(&t, "000c55023fe0000000000000");
    CHECK_NEAR("double", t.shared.inputs.input_double_register[47], 0.5, 0, 0);
    CHECK_INT("fine so far", t.shared.malformed, 0);
    static const char *const wrong[] = {"000355",
                                        "00045503",
                                        "00045500",
                                        "000b55010000002a000000",
                                        "000d55010000002b0000000100",
                                        "00045a00"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        add_hex(&t, wrong[i]);
        CHECK_INT(wrong[i], t.bytes[2], 'M');
        CHECK_INT(wrong[i], t.shared.malformed, i + 1);
    }
    CHECK_INT("kept", t.shared.inputs.input_int_register[0], 42);
    /* Another client's, until this one goes. */
    struct talk *const two = &t;
    two->session = other;
    struct rtde_frame frame = {'I', (const uint8_t *)"input_int_register_0", 20};
    t.out.used = 0;
    rtde_session_receive(&other, &t.shared, &frame, &t.out);
    check_answer("another's", &t, 'I', true, 0, "IN_USE");
    rtde_session_leave(mine, &t.shared);
    t.out.used = 0;
    rtde_session_receive(&other, &t.shared, &frame, &t.out);
    check_answer("free again", &t, 'I', true, 1, "INT32");
    t.shared.read_only = true;
    other = (struct rtde_session){.version = 2};
    t.out.used = 0;
    frame.payload = (const uint8_t *)"input_int_register_9";
    rtde_session_receive(&other, &t.shared, &frame, &t.out);
    CHECK_INT("no writes", t.bytes[2], 'M');
    CHECK_INT("no recipe", other.input_count, 0);
}

/* Who asks for less often gets less often, on average exactly. */
static void test_rates(void)
{
    static const struct {
        double hz, want;
    } rows[] = {{125.0, 125.0}, {50.0, 50.0}, {100.0, 100.0},       {500.0, 125.0}, {1.0, 1.0},
                {0.0, 1.0},     {-5.0, 1.0},  {(double)NAN, 125.0}, {1e300, 125.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct talk t;
        uint8_t hz[8];
        char name[32];
        int frames = 0;
        begin_talk(&t);
        t.session.version = 2;
        rtde_write_double(hz, rows[i].hz);
        add_text(&t, 'O', hz, 8, "timestamp");
        add_hex(&t, "000353");
        for (int k = 0; k < 1250; k++) {
            const struct rtde_outputs values = {.timestamp = 100.0 + 0.008 * k};
            t.out.used = 0;
            rtde_session_send(&t.session, &values, &t.out);
            frames += t.out.used > 0;
        }
        (void)snprintf(name, sizeof name, "%g Hz", rows[i].hz);
        CHECK_NEAR(name, frames, 10.0 * rows[i].want, 0.0, 1.0);
        add_hex(&t, "000350");
        const struct rtde_outputs later = {.timestamp = 200.0};
        t.out.used = 0;
        rtde_session_send(&t.session, &later, &t.out);
        CHECK_INT("paused", t.out.used, 0);
    }
}

/* A list that cannot be: too many names, or values that no frame holds. */
static void test_long_lists(void)
{
    char text[4000] = "timestamp";
    struct talk t;
    begin_talk(&t);
    for (int i = 1; i <= RTDE_ITEMS_MAX; i++) {
        (void)strcat(text, ",timestamp");
    }
    add_text(&t, 'O', NULL, 0, text);
    CHECK("too many", !t.session.has_outputs);
    text[0] = '\0';
    for (int i = 0; i < 100; i++) {
        (void)strcat(text, i > 0 ? ",actual_q" : "actual_q");
    }
    add_text(&t, 'O', NULL, 0, text);
    CHECK("too wide", !t.session.has_outputs);
    add_text(&t, 'O', NULL, 0, "");
    CHECK("none", !t.session.has_outputs);
    check_answer("none", &t, 'O', false, 0, "NOT_FOUND");
    add_text(&t, 'O', NULL, 0, "timestamp,");
    CHECK("comma", !t.session.has_outputs);
    for (int i = 0; i < RTDE_INPUT_RECIPES + 1; i++) {
        (void)snprintf(text, sizeof text, "input_int_register_%d", i);
        add_text(&t, 'I', NULL, 0, text);
    }
    CHECK_INT("recipes", t.session.input_count, RTDE_INPUT_RECIPES);
}

static void test_frames(void)
{
    static const struct {
        const char *hex;
        ssize_t want;
    } rows[] = {{"", 0},          {"00", 0},    {"0003", 0},  {"000353", 3},  {"00045301ff", 4},
                {"0002530a", -1}, {"0000", -1}, {"1001", -1}, {"ffff53", -1}, {"0fff53", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16];
        struct rtde_frame frame;
        const size_t n = read_hex(rows[i].hex, bytes);
        CHECK_INT(rows[i].hex, rtde_frame_next(bytes, n, &frame), rows[i].want);
    }
}

/* --- both sides -------------------------------------------------------------------------- */

static const char *const requested_fields[] = {"timestamp", "actual_q", "robot_mode",
                                               "payload"};

/* Both sides exchange messages until none is left; returns the last one. */
static enum rtde_outcome exchange_frames(struct rtde_client *c, struct talk *t, uint8_t *ask,
                                         size_t n)
{
    enum rtde_outcome changes = RTDE_NOTHING;
    for (int i = 0; i < 10 && n > 0 && changes == RTDE_NOTHING; i++) {
        struct rtde_frame frame;
        struct rtde_out out = {.bytes = ask, .room = RTDE_FRAME_MAX};
        add_frame(t, ask, n);
        CU_ASSERT_FATAL(rtde_frame_next(t->bytes, t->out.used, &frame) > 0);
        changes = rtde_client_receive(c, &frame, &out);
        n = out.used;
    }
    return changes;
}

static void test_both(void)
{
    const struct rtde_request order = {requested_fields, COUNT(requested_fields), 2, 125.0, NULL, 0};
    struct rtde_client c;
    struct talk t;
    uint8_t ask[RTDE_FRAME_MAX];
    struct rtde_out out = {.bytes = ask, .room = sizeof ask};
    struct rtde_frame frame;
    begin_talk(&t);
    rtde_client_begin(&c, &order, &out);
    check_bytes("asks", ask, out.used, golden_hex("request_version_2"));
    CHECK_INT("talk", exchange_frames(&c, &t, ask, out.used), RTDE_NOTHING);
    CHECK_INT("runs", c.stage, RTDE_RUNS);
    const struct rtde_outputs values = {
        .timestamp = 123.456, .actual_q = {1, 2, 3, 4, 5, 6}, .robot_mode = 7, .payload = 2.5};
    t.out.used = 0;
    rtde_session_send(&t.session, &values, &t.out);
    (void)rtde_frame_next(t.bytes, t.out.used, &frame);
    CHECK_INT("values", rtde_client_receive(&c, &frame, &out), RTDE_VALUES);
    CHECK("the same", memcmp(&c.values, &values, sizeof values) == 0);
    frame.bytes--;
    CHECK_INT("cut", rtde_client_receive(&c, &frame, &out), RTDE_FAILED);
    add_hex(&t, "00045a00");
    (void)rtde_frame_next(t.bytes, t.out.used, &frame);
    CHECK_INT("text", rtde_client_receive(&c, &frame, &out), RTDE_TEXT_MESSAGE);
    CHECK_TEXT("text", c.text, "there are no such frames");
}

/* An old controller: no version 2, not all fields; and one without the required fields. */
static void test_old_controller(void)
{
    static const struct {
        const char *row;
        const char *types; /* answered to the first request */
        enum rtde_outcome changes;
        enum rtde_stage stage;
    } rows[] = {
        {"all", "DOUBLE,VECTOR6D,INT32,DOUBLE", RTDE_NOTHING, RTDE_ASKS_START},
        {"one lacks", "DOUBLE,VECTOR6D,INT32,NOT_FOUND", RTDE_NOTHING, RTDE_ASKS_OUTPUTS},
        {"a needed one", "DOUBLE,NOT_FOUND,INT32,DOUBLE", RTDE_FAILED, RTDE_ASKS_OUTPUTS},
        {"another type", "DOUBLE,VECTOR3D,INT32,DOUBLE", RTDE_FAILED, RTDE_ASKS_OUTPUTS},
        {"too few", "DOUBLE,VECTOR6D", RTDE_FAILED, RTDE_ASKS_OUTPUTS},
        {"none", "", RTDE_FAILED, RTDE_ASKS_OUTPUTS},
        {"too many", "DOUBLE,VECTOR6D,INT32,DOUBLE,DOUBLE", RTDE_FAILED, RTDE_ASKS_OUTPUTS}};
    const struct rtde_request order = {requested_fields, COUNT(requested_fields), 2, 125.0, NULL, 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtde_client c;
        uint8_t ask[RTDE_FRAME_MAX];
        struct rtde_out out = {.bytes = ask, .room = sizeof ask};
        const uint8_t no = 0;
        const uint8_t yes = 1;
        rtde_client_begin(&c, &order, &out);
        struct rtde_frame frame = {'V', &no, 1};
        out.used = 0;
        CHECK_INT(rows[i].row, rtde_client_receive(&c, &frame, &out), RTDE_NOTHING);
        check_bytes(rows[i].row, ask, out.used, "0005560001");
        frame.payload = &yes;
        out.used = 0;
        CHECK_INT(rows[i].row, rtde_client_receive(&c, &frame, &out), RTDE_NOTHING);
        CHECK(rows[i].row, memcmp(ask + 3, "timestamp,", 10) == 0);
        frame = (struct rtde_frame){'O', (const uint8_t *)rows[i].types, strlen(rows[i].types)};
        out.used = 0;
        CHECK_INT(rows[i].row, rtde_client_receive(&c, &frame, &out), rows[i].changes);
        CHECK_INT(rows[i].row, c.stage, rows[i].stage);
        CHECK(rows[i].row, (c.text[0] != '\0') == (rows[i].changes == RTDE_FAILED));
    }
}

/* A client that writes inputs, and a second one that finds them in use. */
static void test_client_inputs(void)
{
    static const char *const names[] = {"input_int_register_25,input_double_register_24",
                                        "input_int_register_24"};
    const struct rtde_request order = {.names = requested_fields,
                                       .count = COUNT(requested_fields),
                                       .required = 2,
                                       .hz = 125.0,
                                       .inputs = names,
                                       .input_count = COUNT(names)};
    struct rtde_client c;
    struct talk t;
    uint8_t ask[RTDE_FRAME_MAX];
    struct rtde_out out = {.bytes = ask, .room = sizeof ask};
    begin_talk(&t);
    rtde_client_begin(&c, &order, &out);
    CHECK_INT("talk", exchange_frames(&c, &t, ask, out.used), RTDE_NOTHING);
    CHECK_INT("runs", c.stage, RTDE_RUNS);
    struct rtde_inputs values = {0};
    values.input_int_register[25] = 3;
    values.input_double_register[24] = -1.5;
    values.input_int_register[24] = 77;
    for (size_t k = 0; k < COUNT(names); k++) {
        out.used = 0;
        rtde_client_send(&c, k, &values, &out);
        add_frame(&t, ask, out.used);
    }
    CHECK_INT("operation", t.shared.inputs.input_int_register[25], 3);
    CHECK_INT("number", t.shared.inputs.input_int_register[24], 77);
    CHECK_NEAR("target", t.shared.inputs.input_double_register[24], -1.5, 0.0, 0.0);
    struct rtde_client second;
    t.session = (struct rtde_session){0};
    t.shared.owned[0].session = &second; /* another connection has them */
    t.shared.owned[1].session = &second;
    out.used = 0;
    rtde_client_begin(&second, &order, &out);
    CHECK_INT("in use", exchange_frames(&second, &t, ask, out.used), RTDE_FAILED);
    CHECK("says so", strncmp(second.text, "IN_USE", 6) == 0);
}

/* --- the server -------------------------------------------------------------------------- */

static int connect_to(const struct rtde_server *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval patience = {.tv_sec = 20};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_port = htons((uint16_t)atoi(strrchr(rtde_server_where(s), ':') + 1));
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void send_hex(int fd, const char *hex)
{
    uint8_t bytes[256];
    const size_t n = read_hex(hex, bytes);
    CU_ASSERT_EQUAL_FATAL(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void expect_hex(const char *row, int fd, const char *hex)
{
    uint8_t want[256];
    uint8_t got[256] = {0};
    const size_t n = read_hex(hex, want);
    CHECK_INT(row, recv(fd, got, n, MSG_WAITALL), n);
    check_bytes(row, got, n, hex);
}

static void test_server(void)
{
    const struct tcp_listen listen = {"127.0.0.1:0", RTDE_PORT, false};
    struct rtde_server *s = NULL;
    struct err err = {0};
    struct rtde_inputs inputs;
    struct rtde_outputs state = {.timestamp = 100.5, .actual_q = {1.0}};
    struct rtde_counts counts;
    CU_ASSERT_EQUAL_FATAL(rtde_server_start(&s, &listen, 0.008, true, &err), STATUS_OK);
    const int mute = connect_to(s);
    const int wrong = connect_to(s);
    const int good = connect_to(s);
    send_hex(mute, "00055600"); /* and nothing more */
    send_hex(wrong, "0005560002");
    expect_hex("wrong", wrong, "00045601");
    send_hex(wrong, "0001");
    uint8_t rest[8];
    CHECK_INT("closed", recv(wrong, rest, sizeof rest, 0), 0);
    send_hex(good, "000556");
    send_hex(good, "0002000349"); /* the rest of a version, and a recipe of none */
    expect_hex("version", good, "00045601");
    expect_hex("no inputs", good, "000d49004e4f545f464f554e44");
    send_hex(good, "001949696e70");
    (void)close(mute);
    (void)close(wrong);
    (void)close(good);
    const int next = connect_to(s);
    send_hex(next, golden_hex("request_version_2"));
    expect_hex("version", next, golden_hex("version_accepted"));
    send_hex(next, golden_hex("setup_outputs_125Hz"));
    expect_hex("setup", next, golden_hex("setup_outputs_reply"));
    send_hex(next, golden_hex("start"));
    expect_hex("start", next, golden_hex("started"));
    for (int k = 0; k < 1000; k++) {
        uint8_t frame[60];
        state.timestamp = 100.5 + 0.008 * k;
        rtde_server_publish(s, &state, NULL, &inputs);
        CHECK_INT("data", recv(next, frame, sizeof frame, MSG_WAITALL), sizeof frame);
        CHECK_NEAR("stamp", rtde_get_double(frame + 4), state.timestamp, 0, 0);
    }
    rtde_server_counts(s, &counts);
    CHECK_INT("lost", counts.lost, 0);
    CHECK_INT("broken", counts.tcp.broken, 1);
    (void)close(next);
    rtde_server_stop(s);
}

/* The register that a client writes comes back to it. */
static void test_registers(void)
{
    const struct tcp_listen listen = {"127.0.0.1:0", RTDE_PORT, false};
    struct rtde_server *s = NULL;
    struct err err = {0};
    struct rtde_inputs inputs = {0};
    struct rtde_outputs state = {.timestamp = 100.5};
    CU_ASSERT_EQUAL_FATAL(rtde_server_start(&s, &listen, 0.008, true, &err), STATUS_OK);
    const int fd = connect_to(s);
    send_hex(fd, "0005560002");
    expect_hex("version", fd, "00045601");
    /* input_int_register_0; output_int_register_0 at 125 Hz */
    send_hex(fd, "001749696e7075745f696e745f72656769737465725f30");
    expect_hex("inputs", fd, "00094901494e543332");
    send_hex(fd, "00204f405f4000000000006f75747075745f696e745f72656769737465725f30");
    expect_hex("outputs", fd, "00094f01494e543332");
    send_hex(fd, "000353");
    expect_hex("start", fd, "00045301");
    send_hex(fd, "000855010000002a");
    send_hex(fd, "000376"); /* the answer to it comes afterwards */
    expect_hex("controller", fd, golden_hex("controller_version"));
    rtde_server_publish(s, &state, NULL, &inputs);
    CHECK_INT("in", inputs.input_int_register[0], 42);
    expect_hex("out", fd, "000855010000002a");
    (void)close(fd);
    rtde_server_stop(s);
}

int main(void)
{
    golden = json_load_file("tests/golden/arm/rtde.json", 0, NULL);
    if (!golden || CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("rtde", NULL, NULL);
    CU_ADD_TEST(suite, test_golden);
    CU_ADD_TEST(suite, test_record_recipe);
    CU_ADD_TEST(suite, test_names);
    CU_ADD_TEST(suite, test_guide);
    CU_ADD_TEST(suite, test_small_types);
    CU_ADD_TEST(suite, test_version_1);
    CU_ADD_TEST(suite, test_inputs);
    CU_ADD_TEST(suite, test_rates);
    CU_ADD_TEST(suite, test_long_lists);
    CU_ADD_TEST(suite, test_frames);
    CU_ADD_TEST(suite, test_both);
    CU_ADD_TEST(suite, test_old_controller);
    CU_ADD_TEST(suite, test_client_inputs);
    CU_ADD_TEST(suite, test_server);
    CU_ADD_TEST(suite, test_registers);
    const int status = check_run();
    json_decref(golden);
    return status;
}
