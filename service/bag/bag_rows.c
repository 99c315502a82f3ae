#include "service/bag/bag_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/text.h"
#include "service/bag/bag_topics.h"
#include "service/tool/array.h"
#include "service/tool/commands.h"

enum { COLUMNS_MAX = 64, NS_PER_S = 1000000000, PIECE_BYTES = 65536 };

/* Values by type that models look for: path, column, and whether it belongs to the command. */
static const struct known_column {
    const char *type, *path, *name;
    bool command;
} known_columns[] = {
    {"Twist", "linear.x", "v_cmd_mps", true},
    {"Twist", "angular.z", "w_cmd_radps", true},
    {"TwistStamped", "twist.linear.x", "v_cmd_mps", true},
    {"TwistStamped", "twist.angular.z", "w_cmd_radps", true},
    {"Odometry", "twist.twist.linear.x", "v_mps", false},
    {"Odometry", "twist.twist.angular.z", "w_radps", false},
    {"Odometry", "pose.pose.position.x", "x_m", false},
    {"Odometry", "pose.pose.position.y", "y_m", false},
    {"Odometry", "pose.pose.orientation.z", "theta_rad", false},
    {"Imu", "angular_velocity.z", "w_radps", false},
};

/* The heading is that of the whole quaternion. */
static const char HEADING[] = "pose.pose.orientation.z";

/* Values of one topic, a row of 1 + columns per message: time, then values. */
struct series {
    struct bag_topic *topic;
    bool command;
    size_t column_count, first_column;
    double *values; /* [count][1 + column_count] */
    size_t count, room;
    double shift_s; /* the smallest log time minus stamp, both counted from the start */
    size_t at;      /* row in use while the table is written */
};

struct column {
    char name[BAG_NAME_MAX];
    struct ros_path path;
    struct ros_path quaternion[3]; /* x, y, w of a heading */
    bool heading;
    size_t series;
};

struct bag_table {
    const char *path;
    const struct bag_request *request;
    struct bag_topics topics;
    size_t series_count, column_count;
    struct series series[COLUMNS_MAX];
    struct column column[COLUMNS_MAX];
    int64_t start_ns; /* times count from here */
    size_t base;      /* the series whose messages are the rows */
    uint64_t failed;  /* messages that cannot be decoded */
    struct err first;
};

/* --- the columns
 * -------------------------------------------------------------------------------
 */

static size_t series_of(struct bag_table *b, struct bag_topic *topic)
{
    size_t i = 0;
    while (i < b->series_count && b->series[i].topic != topic) {
        i++;
    }
    if (i == b->series_count) {
        const char *type = bag_topic_type(topic);
        b->series[b->series_count++] = (struct series){
            .topic = topic,
            .command = strcmp(type, "Twist") == 0 || strcmp(type, "TwistStamped") == 0};
    }
    return i;
}

static enum status add_column(struct bag_table *b, struct bag_topic *topic, const char *path,
                              const char *name, struct err *err)
{
    static const char *const quaternion[] = {"x", "y", "w"};
    struct column *c = &b->column[b->column_count];
    if (!topic->definition) {
        return err_set(err, STATUS_E_PARSE, FAULT_UNSUPPORTED, b->path, "%.60s: %.180s",
                       topic->name, topic->fault);
    }
    if (b->column_count == COLUMNS_MAX || !ros_path_find(topic->definition, path, &c->path)) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, b->path,
                       "%.60s has no number '%.100s'", topic->type, path);
    }
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    c->series = series_of(b, topic);
    c->heading = strcmp(path, HEADING) == 0 && strcmp(name, "theta_rad") == 0;
    for (size_t i = 0; i < COUNT(quaternion) && c->heading; i++) {
        char part[ROS_PATH_MAX];
        (void)snprintf(part, sizeof part, "%.*s%s", (int)strlen(HEADING) - 1, HEADING,
                       quaternion[i]);
        c->heading = ros_path_find(topic->definition, part, &c->quaternion[i]);
    }
    b->column_count++;
    return STATUS_OK;
}

static enum status refuse_topics(const struct bag_table *b, const char *what, struct err *err)
{
    char list[200] = "";
    for (size_t i = 0; i < b->topics.count; i++) {
        const struct bag_topic *t = b->topics.topic[i];
        text_append(list, sizeof list, "%s%s %s", i > 0 ? ", " : "", t->name,
                    bag_topic_type(t));
    }
    return err_set(err, STATUS_E_EMPTY, FAULT_UNKNOWN_NAME, b->path, "%s; there are %s", what,
                   list[0] ? list : "none");
}

/* Adds the column of a path "/topic.a.b" of --columns, if it is not there yet. */
static enum status add_path(struct bag_table *b, const char *text, struct err *err)
{
    struct bag_topic *topic = NULL;
    for (size_t i = 0; i < b->topics.count; i++) {
        struct bag_topic *t = b->topics.topic[i];
        const size_t n = strlen(t->name);
        if (strncmp(text, t->name, n) == 0 && text[n] == '.' &&
            (!topic || n > strlen(topic->name))) {
            topic = t;
        }
    }
    for (size_t i = 0; i < b->column_count; i++) {
        if (strcmp(b->column[i].name, text) == 0) {
            return STATUS_OK;
        }
    }
    if (!topic) {
        char what[160];
        (void)snprintf(what, sizeof what, "--columns: no topic for '%.100s'", text);
        return refuse_topics(b, what, err);
    }
    return add_column(b, topic, text + strlen(topic->name) + 1, text, err);
}

/* Adds the paths of --columns: "role=-/topic.path*2:deg" has one. */
static enum status add_given(struct bag_table *b, struct err *err)
{
    const struct column_map *map = b->request->columns;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < map->count && status == STATUS_OK; i++) {
        const char *at = map->rows[i].column;
        while (*at && status == STATUS_OK) {
            char text[sizeof map->rows[i].column];
            at += strspn(at, "-*");
            const size_t n = strcspn(at, *at == '/' ? "*:" : "*");
            (void)snprintf(text, sizeof text, "%.*s", (int)n, at);
            status = *at == '/' ? add_path(b, text, err) : STATUS_OK;
            at += n;
            at += *at == ':' ? strlen(at) : 0;
        }
    }
    return status;
}

/* --- roles
 * -------------------------------------------------------------------------------------
 */

static bool is_known(const struct bag_topic *topic, bool command)
{
    for (size_t i = 0; i < COUNT(known_columns); i++) {
        if (known_columns[i].command == command &&
            strcmp(known_columns[i].type, bag_topic_type(topic)) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds the only topic of a type that has such values; an Imu only if it is named. */
static enum status choose_topic(struct bag_table *b, bool command, struct bag_topic **out,
                                struct err *err)
{
    for (size_t i = 0; i < b->topics.count; i++) {
        struct bag_topic *t = b->topics.topic[i];
        if (!is_known(t, command) || strcmp(bag_topic_type(t), "Imu") == 0) {
            continue;
        }
        if (*out) {
            return err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, b->path,
                           "two topics of %s: %.60s, %.60s; say which by --topics",
                           bag_topic_type(*out), (*out)->name, t->name);
        }
        *out = t;
    }
    return *out ? STATUS_OK
                : refuse_topics(b,
                                command ? "no topic of Twist or TwistStamped for the command"
                                        : "no topic of Odometry for the motion",
                                err);
}

/* Adds the columns that models know of a topic. */
static enum status add_role(struct bag_table *b, struct bag_topic *topic, bool command,
                            struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT(known_columns) && status == STATUS_OK; i++) {
        const struct known_column *known = &known_columns[i];
        if (known->command == command && strcmp(known->type, bag_topic_type(topic)) == 0) {
            status = add_column(b, topic, known->path, known->name, err);
        }
    }
    if (status == STATUS_OK) {
        b->series[series_of(b, topic)].command = command;
    }
    return status;
}

static enum status find_role(struct bag_table *b, const struct column_map *topics, bool command,
                             struct err *err)
{
    const char *given = column_map_find(topics, command ? "command" : "motion");
    struct bag_topic *topic = given ? bag_topics_find(&b->topics, given) : NULL;
    if (given && !topic) {
        char what[160];
        (void)snprintf(what, sizeof what, "--topics: no topic '%.100s'", given);
        return refuse_topics(b, what, err);
    }
    if (!topic && (command ? b->request->needs_command : b->request->needs_motion)) {
        const enum status status = choose_topic(b, command, &topic, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return topic ? add_role(b, topic, command, err) : STATUS_OK;
}

/* The rows are the messages of the motion's topic, or of the measured topic with the most. */
static void choose_base(struct bag_table *b, const struct column_map *topics)
{
    const char *given = column_map_find(topics, "motion");
    for (size_t i = 0; i < b->series_count; i++) {
        const struct series *s = &b->series[i];
        const struct series *best = &b->series[b->base];
        const bool more =
            best->command == s->command ? s->topic->count > best->topic->count : best->command;
        b->base = more ? i : b->base;
    }
    for (size_t i = 0; i < b->series_count && given; i++) {
        b->base = strcmp(b->series[i].topic->name, given) == 0 ? i : b->base;
    }
}

static int compare_columns(const void *one, const void *other)
{
    const struct column *a = one;
    const struct column *b = other;
    return a->series != b->series ? (a->series > b->series ? 1 : -1) : strcmp(a->name, b->name);
}

static enum status choose_columns(struct bag_table *b, struct err *err)
{
    static const char *const roles[] = {"command", "motion", NULL};
    struct column_map topics = {.count = 0};
    enum status status = STATUS_OK;
    if (b->request->topics) {
        status = column_map_read(b->request->topics, false, &topics, err);
        status =
            status == STATUS_OK ? column_map_check(&topics, roles, "--topics", err) : status;
    }
    status = status == STATUS_OK ? add_given(b, err) : status;
    status = status == STATUS_OK ? find_role(b, &topics, true, err) : status;
    status = status == STATUS_OK ? find_role(b, &topics, false, err) : status;
    if (status == STATUS_OK && b->column_count == 0) {
        status =
            refuse_topics(b, "name the columns: --columns ROLE=/topic.path, see --list", err);
    }
    choose_base(b, &topics);
    qsort(b->column, b->column_count, sizeof b->column[0], compare_columns);
    for (size_t i = 0; i < b->column_count; i++) {
        struct series *s = &b->series[b->column[i].series];
        s->first_column = s->column_count++ == 0 ? i : s->first_column;
    }
    return status;
}

/* --- the messages
 * ------------------------------------------------------------------------------
 */

/* A message being decoded for its columns. */
struct row_in {
    const struct bag_table *table;
    const struct series *series;
    double values[1 + COLUMNS_MAX]; /* the time first */
    double quaternion[3];
    double sec, nanosec;
    uint32_t joint[COLUMNS_MAX]; /* element of the column's joint; UINT32_MAX: not there */
};

static bool is_path(const struct ros_path *path, const struct ros_value *value)
{
    return path->field == value->field &&
           memcmp(path->at, value->at, path->loops * sizeof path->at[0]) == 0;
}

static void read_path(const struct ros_path *path, const struct ros_value *value,
                      size_t element, double *to)
{
    if (is_path(path, value) && element < value->count) {
        *to = ros_value_number(value, element);
    }
}

/* Finds the joints that columns name, in a message's list "name". */
static void find_joints(struct row_in *in, const struct ros_value *value)
{
    const struct ros_field *field = &in->series->topic->definition->fields[value->field];
    if (field->name_bytes != 4 || memcmp(field->name, "name", 4) != 0) {
        return;
    }
    for (size_t i = 0; i < in->series->column_count; i++) {
        const char *joint = in->table->column[in->series->first_column + i].path.joint;
        if (joint[0] && strlen(joint) == value->count &&
            memcmp(joint, value->data, value->count) == 0) {
            in->joint[i] = (uint32_t)value->element;
        }
    }
}

static bool read_value(void *context, const struct ros_value *value)
{
    struct row_in *in = context;
    if (value->type >= ROS_STRING) {
        find_joints(in, value);
        return true;
    }
    for (size_t i = 0; i < in->series->column_count; i++) {
        const struct column *c = &in->table->column[in->series->first_column + i];
        read_path(&c->path, value, c->path.joint[0] ? in->joint[i] : c->path.element,
                  &in->values[1 + i]);
        for (size_t k = 0; k < COUNT(in->quaternion) && c->heading; k++) {
            read_path(&c->quaternion[k], value, 0, &in->quaternion[k]);
        }
    }
    if (in->series->topic->has_stamp) {
        read_path(&in->series->topic->sec, value, 0, &in->sec);
        read_path(&in->series->topic->nanosec, value, 0, &in->nanosec);
    }
    return true;
}

static enum status read_message(struct bag_table *b, struct series *s,
                                const struct bag_message *m, struct err *err)
{
    struct row_in in = {.table = b, .series = s, .sec = (double)NAN};
    struct err fault = {0};
    for (size_t i = 0; i < COUNT(in.values); i++) {
        in.values[i] = (double)NAN;
    }
    memset(in.joint, 0xff, sizeof in.joint);
    if (ros_message_decode(s->topic->definition, m->data, m->bytes, read_value, &in, &fault) !=
        STATUS_OK) {
        if (b->failed++ == 0) {
            (void)err_set(&b->first, STATUS_E_PARSE, FAULT_FILE_DAMAGED, b->path,
                          "%.60s, message %zu, byte %u: %.120s", s->topic->name, s->count + 1,
                          fault.column, fault.text);
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < s->column_count; i++) {
        if (b->column[s->first_column + i].heading) {
            const double x = in.quaternion[0];
            const double y = in.quaternion[1];
            const double w = in.quaternion[2];
            const double z = in.values[1 + i];
            in.values[1 + i] = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z));
        }
    }
    const double log_s = (double)(m->log_ns - b->start_ns) / NS_PER_S;
    /* Whole seconds are subtracted first: a double resolves 1970's nanoseconds to 256. */
    const int64_t start_s = b->start_ns / NS_PER_S;
    const double stamp_s = (in.sec - (double)start_s) +
                           (in.nanosec - (double)(b->start_ns - start_s * NS_PER_S)) / NS_PER_S;
    const bool stamped =
        isfinite(stamp_s) && !(b->request->clock && b->request->clock[0] == 'l');
    s->shift_s = !stamped                                        ? 0.0
                 : s->count == 0 || log_s - stamp_s < s->shift_s ? log_s - stamp_s
                                                                 : s->shift_s;
    in.values[0] = stamped ? stamp_s : log_s;
    return array_append((void **)&s->values, &s->count, &s->room, in.values,
                        (1 + s->column_count) * sizeof in.values[0])
               ? STATUS_OK
               : err_no_memory(err, b->path, "no memory");
}

static enum status read_messages(struct bag_table *b, struct err *err)
{
    struct bag_reader *reader = NULL;
    struct bag_message m;
    enum status status = bag_reader_open(b->path, &reader, err);
    while (status == STATUS_OK) {
        status = bag_reader_next(reader, &m, err);
        for (size_t i = 0; i < b->series_count && status == STATUS_OK; i++) {
            if (strcmp(b->series[i].topic->name, m.topic) == 0) {
                status = read_message(b, &b->series[i], &m, err);
            }
        }
    }
    bag_reader_close(reader);
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

/* --- the table
 * ---------------------------------------------------------------------------------
 */

static int compare_times(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;
    return (a > b) - (a < b);
}

static double time_of(const struct series *s, size_t row)
{
    return s->values[row * (1 + s->column_count)] + s->shift_s;
}

/* Writes the values of a series at a time: those of its last message, in the order of columns.
 */
static void write_values(const struct bag_table *b, struct series *s, double t_s, FILE *out)
{
    while (s->at < s->count && time_of(s, s->at) <= t_s) {
        s->at++;
    }
    const bool given = s->at > 0;
    const bool held =
        given && (!s->command || t_s - time_of(s, s->at - 1) <= b->request->command_timeout_s);
    for (size_t i = 0; i < s->column_count; i++) {
        const double value = held ? s->values[(s->at - 1) * (1 + s->column_count) + 1 + i]
                             : s->command ? 0.0
                                          : (double)NAN;
        (void)fprintf(out, isfinite(value) ? ",%.12g" : ",", value);
    }
}

static enum status write_table(struct bag_table *b, FILE *out, struct err *err)
{
    struct series *base = &b->series[b->base];
    double last_s = -INFINITY;
    (void)fputs("t_s", out);
    for (size_t i = 0; i < b->column_count; i++) {
        (void)fprintf(out, ",\"%s\"", b->column[i].name);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < b->series_count; i++) {
        struct series *s = &b->series[i];
        if (s->count > 0) {
            qsort(s->values, s->count, (1 + s->column_count) * sizeof(double), compare_times);
        }
    }
    if (base->count == 0 && b->failed > 0) {
        *err = b->first;
        return err->code;
    }
    if (base->count == 0) {
        return err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, b->path, "no message is on %.100s",
                       base->topic->name);
    }
    for (size_t row = 0; row < base->count; row++) {
        const double t_s = time_of(base, row);
        if (t_s > last_s) {
            (void)fprintf(out, "%.9f", t_s - time_of(base, 0));
            for (size_t i = 0; i < b->series_count; i++) {
                write_values(b, &b->series[i], t_s, out);
            }
            (void)fputc('\n', out);
            last_s = t_s;
        }
    }
    return STATUS_OK;
}

static void report_left_out(const struct bag_table *b)
{
    if (b->topics.torn) {
        complain("%s: torn: the part before the cut is used", b->path);
    }
    if (b->failed > 0) {
        complain("%s: %" PRIu64 " messages cannot be decoded; the first: %s", b->path,
                 b->failed, b->first.text);
    }
}

static enum status make_table(struct bag_table *b, FILE *out, struct err *err)
{
    enum status status = bag_topics_read(b->path, &b->topics, err);
    b->start_ns = b->topics.count > 0 ? b->topics.topic[0]->first_ns : 0;
    status = status == STATUS_OK ? choose_columns(b, err) : status;
    status = status == STATUS_OK ? read_messages(b, err) : status;
    status = status == STATUS_OK ? write_table(b, out, err) : status;
    if (status == STATUS_OK) {
        report_left_out(b);
    }
    for (size_t i = 0; i < b->series_count; i++) {
        free(b->series[i].values);
    }
    bag_topics_free(&b->topics);
    return status;
}

/* Describes the bag itself: its size and hash are those that the result names. */
static struct file_mark mark_file(const char *path)
{
    struct file_mark mark = {0, HASH_START};
    char piece[PIECE_BYTES];
    FILE *from = fopen(path, "rb");
    for (size_t n = from ? fread(piece, 1, sizeof piece, from) : 0; n > 0;
         n = fread(piece, 1, sizeof piece, from)) {
        mark.hash = hash_bytes(mark.hash, piece, n);
        mark.bytes += n;
    }
    if (from) {
        (void)fclose(from);
    }
    return mark;
}

static enum status load_bag(const struct bag_request *request, struct csv_source *input,
                            struct err *err)
{
    struct bag_table *b = calloc(1, sizeof *b);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = b ? open_memstream(&text, &bytes) : NULL;
    if (!out) {
        free(b);
        return err_no_memory(err, input->path, "no memory");
    }
    b->path = input->path;
    b->request = request;
    enum status status = make_table(b, out, err);
    if (fclose(out) != 0 && status == STATUS_OK) {
        status = err_no_memory(err, input->path, "no memory");
    }
    free(b);
    if (status != STATUS_OK) {
        free(text);
        return status;
    }
    input->text = text;
    input->bytes = bytes;
    input->made_of = mark_file(input->path);
    return STATUS_OK;
}

enum status bag_rows_load(const struct bag_request *request, struct csv_source *inputs,
                          size_t count, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const enum bag_kind kind = bag_kind_of(inputs[i].path);
        if (kind == BAG_MCAP || kind == BAG_SQLITE) {
            status = load_bag(request, &inputs[i], err);
        }
    }
    return status;
}

void bag_rows_free(struct csv_source *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)inputs[i].text); /* only load_bag() has made texts */
        inputs[i].text = NULL;
    }
}

enum status bag_rows_list(const struct csv_source *inputs, size_t count, FILE *out,
                          struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct bag_topics topics = {.count = 0};
        if (bag_kind_of(inputs[i].path) == BAG_NONE) {
            return err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, inputs[i].path,
                           "is no bag: MCAP, or SQLite of rosbag2, was expected");
        }
        status = bag_topics_read(inputs[i].path, &topics, err);
        if (count > 1) {
            (void)fprintf(out, "%s\n", inputs[i].path);
        }
        bag_topics_print(&topics, out);
        bag_topics_free(&topics);
    }
    return status;
}
