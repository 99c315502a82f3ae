#include "tests/support/check.h"

#include "service/mqtt/broker_arguments.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

struct values {
    double speed;
    int count;
    const char *mode;
    bool quiet;
    struct argument_list files;
    const char *room[2];
};

static int parse_line(const char *operands, int argc, char **argv, struct values *v,
                      struct mqtt_client_options *broker)
{
    const struct argument rows[] = {
        {"speed", 's', ARGUMENT_REAL, &v->speed, 0.0, 10.0, "X", "how fast"},
        {"count", 0, ARGUMENT_INTEGER, &v->count, 1, 100, "N", "how many"},
        {"mode", 0, ARGUMENT_TEXT, &v->mode, 0, 0, "one|two", "which"},
        {"quiet", 'q', ARGUMENT_FLAG, &v->quiet, 0, 0, NULL, "less"},
        {"file", 0, ARGUMENT_LIST, &v->files, 0, 0, "FILE", "any number"},
    };
    v->files = (struct argument_list){.room = COUNT(v->room), .texts = v->room};
    struct broker_group group;
    if (broker) {
        broker_arguments_group(broker, &group);
    }
    const struct arguments arguments = {.command = "test",
                                        .operands = operands,
                                        .description = "  Nothing.\n",
                                        .exit_status = "never",
                                        .rows = rows,
                                        .row_count = COUNT(rows),
                                        .more = broker ? &group.group : NULL};
    return arguments_parse(&arguments, argc, argv);
}

enum { WORDS_MAX = 8 };

static int count_words(const char *const words[WORDS_MAX], char *argv[WORDS_MAX + 1],
                       char storage[WORDS_MAX][32])
{
    int argc = 0;
    for (; argc < WORDS_MAX && words[argc]; argc++) {
        (void)snprintf(storage[argc], 32, "%s", words[argc]);
        argv[argc] = storage[argc];
    }
    argv[argc] = NULL;
    return argc;
}

static void test_good(void)
{
    static const char *const words[WORDS_MAX] = {"test", "--speed=2.5", "a", "--count",
                                                 "7",    "-q",          "-", "--port=99"};
    char storage[WORDS_MAX][32];
    char *argv[WORDS_MAX + 1];
    const int argc = count_words(words, argv, storage);
    struct values v = {.speed = 1.0, .count = 1, .mode = "one"};
    struct mqtt_client_options broker = broker_arguments_defaults();
    CHECK_INT("goes on", parse_line("FILE...", argc, argv, &v, &broker), ARGUMENTS_PARSED);
    CHECK_NEAR("speed", v.speed, 2.5, 0.0, 0.0);
    CHECK_INT("count", v.count, 7);
    CHECK_TEXT("mode", v.mode, "one");
    CHECK("quiet", v.quiet);
    CHECK_INT("port", broker.port, 99);
    CHECK_TEXT("operand", argv[1], "a");
    CHECK_TEXT("operand", argv[2], "-");
    CHECK("end of operands", argv[3] == NULL);
    const struct mqtt_client_options o = broker_arguments_options(&broker, "id");
    CHECK_TEXT("version", o.protocol, "5");
    CHECK_INT("port", o.port, 99);
    CHECK_TEXT("prefix", o.prefix, "tandem/v1");
}

static void test_list(void)
{
    static const char *const words[WORDS_MAX] = {"test", "--file=a", "b", "--file", "c"};
    char storage[WORDS_MAX][32];
    char *argv[WORDS_MAX + 1];
    const int argc = count_words(words, argv, storage);
    struct values v = {.count = 1};
    CHECK_INT("goes on", parse_line("FILE...", argc, argv, &v, NULL), ARGUMENTS_PARSED);
    CHECK_INT("count", v.files.count, 2);
    CHECK_TEXT("first", v.room[0], "a");
    CHECK_TEXT("second", v.room[1], "c");
}

static void test_bad(void)
{
    static const struct {
        const char *row;
        const char *words[WORDS_MAX];
        int exit_status;
    } rows[] = {
        {"unknown", {"test", "--sped", "1"}, EXIT_USAGE},
        {"unknown letter", {"test", "-x"}, EXIT_USAGE},
        {"no value", {"test", "--speed"}, EXIT_USAGE},
        {"no number", {"test", "--speed", "fast"}, EXIT_USAGE},
        {"comma", {"test", "--speed", "0,5"}, EXIT_USAGE},
        {"nan", {"test", "--speed", "nan"}, EXIT_USAGE},
        {"hexadecimal", {"test", "--speed", "0x1"}, EXIT_USAGE},
        {"too large", {"test", "--speed", "10.1"}, EXIT_USAGE},
        {"not whole", {"test", "--count", "1.5"}, EXIT_USAGE},
        {"too small", {"test", "--count", "0"}, EXIT_USAGE},
        {"not of the words", {"test", "--mode", "on"}, EXIT_USAGE},
        {"value of a flag", {"test", "--quiet=1"}, EXIT_USAGE},
        {"operand", {"test", "file"}, EXIT_USAGE},
        {"list", {"test", "--file=a", "--file=b", "--file=c"}, EXIT_USAGE},
        {"no broker here", {"test", "--port", "1"}, EXIT_USAGE},
        {"help", {"test", "--help"}, EXIT_FINE},
        {"short help", {"test", "-h"}, EXIT_FINE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char storage[WORDS_MAX][32];
        char *argv[WORDS_MAX + 1];
        const int argc = count_words(rows[i].words, argv, storage);
        struct values v = {.speed = 1.0, .count = 1, .mode = "one"};
        CHECK_INT(rows[i].row, parse_line("", argc, argv, &v, NULL), rows[i].exit_status);
    }
    char name[] = "test";
    char *argv[] = {name, NULL};
    struct values v = {.speed = 1.0, .count = 1, .mode = "one"};
    CHECK_INT("operand missing", parse_line("FILE", 1, argv, &v, NULL), EXIT_USAGE);
}

int main(void)
{
    (void)CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arguments", NULL, NULL);
    (void)CU_add_test(suite, "good", test_good);
    (void)CU_add_test(suite, "list", test_list);
    (void)CU_add_test(suite, "bad", test_bad);
    return check_run();
}
