/* service/program/broker_acl_command.c - `tandem broker-acl`: prints who may write and read
 * which topics, as an access list for mosquitto (mosquitto.conf(5), acl_file).
 *
 * A user is "<pair>-real", "<pair>-virtual", "<pair>-l1", the daemon or a reader. The codec of
 * a pair decides the rights of the first three.
 */
#include <stdio.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

enum { READERS_MAX = 64, USER_MAX = 64 };

struct acl {
    const struct lab_file *lab;
    const char *daemon;
    struct argument_list readers;
    bool users; /* print user names only */
};

/* Names a robot by its side, and the commanding party by SIDE_COUNT. */
static void name_user(char out[USER_MAX], const struct pair_params *pair, enum side side)
{
    (void)snprintf(out, USER_MAX, "%s-%s", pair->id,
                   side < SIDE_COUNT ? side_name(side) : "l1");
}

/* ---- words that would change the meaning of the list --------------------------------- */

/* Mosquitto strips blanks at the ends of a line. */
static bool is_word(const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            return false;
        }
    }
    return n > 0 && text[0] != ' ' && text[n - 1] != ' ';
}

static bool complain_of(const char *what, const char *text, const char *right)
{
    return complain("broker-acl: %s '%.60s': %s", what, text, right);
}

static bool is_of_pair(const struct lab_file *lab, const char *user)
{
    char name[USER_MAX];
    for (size_t i = 0; i < lab->pair_count; i++) {
        for (int side = 0; side <= SIDE_COUNT; side++) {
            name_user(name, &lab->pairs[i], (enum side)side);
            if (strcmp(name, user) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool check_user(const struct lab_file *lab, const char *what, const char *user)
{
    if (!is_word(user) || strchr(user, ':')) {
        return complain_of(what, user,
                           "a name without ':', control characters and blanks at "
                           "its ends was expected");
    }
    return !is_of_pair(lab, user) ||
           complain_of(what, user, "is the name of one of a pair's users, take another");
}

static bool check_pairs(const struct lab_file *lab)
{
    for (size_t i = 0; i < lab->pair_count; i++) {
        const struct pair_params *pair = &lab->pairs[i];
        const struct codec *codec = codec_find(pair->codec);
        if (!codec->receive && !codec->rights[0].topic) {
            return complain_of("codec", pair->codec,
                               "does not define who may write which topics");
        }
        if (strcmp(pair->id, "heartbeat") == 0) {
            return complain_of("pair", pair->id,
                               "everybody may write <prefix>/heartbeat, take another name");
        }
    }
    return true;
}

/* Returns the user of a second connection; "": none, or the same. */
static const char *find_second(const struct acl *a)
{
    const char *user = a->lab->broker.telemetry_username;
    return strcmp(user, a->daemon) == 0 ? "" : user;
}

static bool check_acl(const struct acl *a)
{
    const char *second = find_second(a);
    bool fine = check_pairs(a->lab) && check_user(a->lab, "broker.username", a->daemon) &&
                (!second[0] || check_user(a->lab, "broker.telemetry_username", second));
    if (!is_word(a->lab->broker.prefix)) {
        fine = complain_of("broker.prefix", a->lab->broker.prefix,
                           "a text without control characters and blanks at its ends was "
                           "expected");
    }
    for (size_t i = 0; fine && i < a->readers.count; i++) {
        fine = check_user(a->lab, "--reader", a->readers.texts[i]);
        const char *name = a->readers.texts[i];
        if (strcmp(name, a->daemon) == 0 || strcmp(name, second) == 0) {
            fine = complain_of("--reader", name, "is the daemon's name, take another");
        }
    }
    return fine;
}

/* ---- the list ---- */

static bool has_right(enum side side, enum codec_party party)
{
    return party == CODEC_L1
               ? side == SIDE_COUNT
               : side == SIDE_VIRTUAL || (side == SIDE_REAL && party == CODEC_ROBOT);
}

/* Prints the topic with the pair in place of its first '+', the side in place of the second. */
static void print_topic(const struct acl *a, const struct codec_right *right,
                        const struct pair_params *pair, enum side side)
{
    const char *const names[] = {pair->id, side < SIDE_COUNT ? side_name(side) : "+"};
    size_t next = 0;
    (void)printf("topic %s %s/", right->writes ? "write" : "read", a->lab->broker.prefix);
    for (const char *c = right->topic; *c; c++) {
        if (*c == '+' && next < COUNT(names)) {
            (void)fputs(names[next++], stdout);
        } else {
            (void)putchar(*c);
        }
    }
    (void)putchar('\n');
}

/* Whoever commands a pair may lock and unlock in its team, and give it jobs. */
static void print_teams(const struct acl *a, const struct pair_params *pair)
{
    const struct lab_params lab = lab_file_params(a->lab);
    const char *prefix = a->lab->broker.prefix;
    for (size_t k = 0; k < lab.team_count; k++) {
        for (size_t i = 0; i < lab.teams[k].robot_count; i++) {
            if (strcmp(lab.teams[k].robots[i].pair, pair->id) == 0) {
                const char *team = lab.teams[k].name;
                (void)printf("topic write %s/%s/request\ntopic write %s/%s/job\n", prefix, team,
                             prefix, team);
                (void)printf("topic read %s/%s/#\n", prefix, team);
            }
        }
    }
}

/* The commanding party reads what robots of a foreign codec write, and vice versa. */
static void print_places(const struct pair_params *pair, enum side side)
{
    struct codec_place place;
    const struct codec *codec = codec_find(pair->codec);
    for (size_t k = 0; codec->place(&pair->speaks, k, &place); k++) {
        if (side == SIDE_COUNT || place.side == SIDE_COUNT || place.side == side) {
            (void)printf("topic %s %s\n",
                         place.from_robot == (side < SIDE_COUNT) ? "write" : "read",
                         place.filter);
        }
    }
}

static void print_foreign(const struct acl *a, const char *may)
{
    for (size_t i = 0; i < a->lab->pair_count; i++) {
        struct codec_place place;
        const struct codec *codec = codec_find(a->lab->pairs[i].codec);
        for (size_t k = 0; codec->place && codec->place(&a->lab->pairs[i].speaks, k, &place);
             k++) {
            (void)printf("topic %s %s\n", may, place.filter);
        }
    }
}

static void print_party(const struct acl *a, const struct pair_params *pair, enum side side)
{
    char user[USER_MAX];
    name_user(user, pair, side);
    if (a->users) {
        (void)puts(user);
        return;
    }
    (void)printf("\nuser %s\n", user);
    const struct codec *codec = codec_find(pair->codec);
    if (codec->receive) {
        print_places(pair, side);
        codec = side == SIDE_COUNT ? &codec_native : codec->fallback ? codec->fallback : codec;
    }
    const struct codec_right *rights = codec->rights;
    for (size_t i = 0; i < CODEC_RIGHTS_MAX && rights[i].topic; i++) {
        if (has_right(side, rights[i].party)) {
            print_topic(a, &rights[i], pair, side);
        }
    }
    if (side == SIDE_COUNT) {
        print_teams(a, pair);
    }
    (void)printf("topic readwrite %s/heartbeat/+\n", a->lab->broker.prefix);
}

static void print_other(const struct acl *a, const char *user, const char *may)
{
    if (a->users) {
        (void)puts(user);
    } else {
        (void)printf("\nuser %s\ntopic %s %s/#\n", user, may, a->lab->broker.prefix);
    }
}

/* Prints the rights of the daemon's connections. */
static void print_daemon(const struct acl *a)
{
    const char *second = find_second(a);
    print_other(a, a->daemon, "readwrite");
    if (!a->users) {
        print_foreign(a, "readwrite");
    }
    if (second[0]) {
        print_other(a, second, "read");
    }
    if (second[0] && !a->users) {
        (void)printf("topic readwrite %s/heartbeat/+\n", a->lab->broker.prefix);
        print_foreign(a, "read");
    }
}

static int print_acl(const struct acl *a)
{
    if (!a->users) {
        (void)puts(
            "# Made by `tandem broker-acl`: after a change of the lab's pairs, prefix or "
            "codecs make it again.");
    }
    print_daemon(a);
    for (size_t i = 0; i < a->readers.count; i++) {
        print_other(a, a->readers.texts[i], "read");
    }
    for (size_t i = 0; i < a->lab->pair_count; i++) {
        for (int side = 0; side <= SIDE_COUNT; side++) {
            print_party(a, &a->lab->pairs[i], (enum side)side);
        }
    }
    return EXIT_FINE;
}

static const char description[] =
    "  Prints the access list of mosquitto for a lab: acl_file in mosquitto.conf. Its "
    "users:\n\n"
    "  PAIR-real, PAIR-virtual   a robot writes its own reply, telemetry, connection, "
    "machines\n"
    "                            and answers, and reads what is meant for it\n"
    "  PAIR-l1                   who commands the pair: its commands and efforts; reads all of "
    "it\n"
    "  tandem                    the daemon, or broker.username of the lab file: everything;\n"
    "                            broker.telemetry_username, if there is one, reads everything\n"
    "  reader                    reads everything, writes nothing; or those of --reader\n\n"
    "  With passwords, and the settings that belong to it: docs/operations.md.\n";

int command_broker_acl(int argc, char **argv)
{
    const char *path = NULL;
    const char *readers[READERS_MAX] = {"reader"};
    struct acl a = {.readers = {.room = READERS_MAX, .texts = readers}};
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &path, 0, 0, "FILE", "the lab file"},
        {"reader", 0, ARGUMENT_LIST, &a.readers, 0, 0, "NAME",
         "user who may read everything, repeatable (reader)"},
        {"users", 0, ARGUMENT_FLAG, &a.users, 0, 0, NULL, "the users' names, one a line"},
    };
    const struct arguments arguments = {.command = "broker-acl",
                                        .operands = "",
                                        .description = description,
                                        .exit_status = "the output could not be written",
                                        ARGUMENT_ROWS(rows)};
    int code = arguments_parse(&arguments, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    struct lab_file lab = {0};
    if (!lab_argument_load(arguments.command, path, &lab)) {
        return EXIT_USAGE;
    }
    a.lab = &lab;
    a.daemon = lab.broker.username[0] ? lab.broker.username : "tandem";
    a.readers.count = a.readers.count > 0 ? a.readers.count : 1;
    code = check_acl(&a) ? print_acl(&a) : EXIT_USAGE;
    lab_file_free(&lab);
    return code;
}
