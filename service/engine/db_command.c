/* service/engine/db_command.c - tandem db: prepares and checks the database of several daemons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/lab_secrets.h"
#include "service/engine/engine_check.h"
#include "service/engine/engine_claim.h"
#include "service/engine/engine_target.h"
#include "service/engine/postgresql_schema.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"

enum { CONNECT_MS = 10000 };

struct db_request {
    const char *lab, *admin, *password_file;
    const char *retired; /* name of a lab */
};

static int print_failure(const struct err *err)
{
    complain_err(err);
    return EXIT_FAILED;
}

/* Opens a database as the administrator. */
static enum status open_as_admin(const struct engine_options *engine,
                                 const struct db_request *request, const char *database,
                                 struct postgresql **out, struct err *err)
{
    const bool own = strcmp(database, engine->postgresql.database) == 0;
    const struct engine_user admin = {database, request->admin, request->password_file, !own};
    struct postgresql_target *target = NULL;
    enum status status = engine_target_create(engine, &admin, &target, err);
    if (status == STATUS_OK) {
        status = postgresql_open(target, POSTGRESQL_WRITABLE, CONNECT_MS, out, err);
    }
    postgresql_target_destroy(target);
    return status;
}

static enum status init_database(const struct engine_options *engine,
                                 const struct db_request *request, struct err *err)
{
    struct postgresql *c = NULL;
    bool added = false;
    if (strcmp(engine->postgresql.database, "template0") == 0 ||
        strcmp(engine->postgresql.database, "template1") == 0) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_NAME, "engine.postgresql.database",
                       "%s is a template: every new database would get Tandem's tables; take "
                       "another name, such as tandem",
                       engine->postgresql.database);
    }
    enum status status = open_as_admin(engine, request, "postgres", &c, err);
    if (status == STATUS_OK) {
        status = postgresql_schema_add_database(c, engine->postgresql.database, &added, err);
    }
    if (status == STATUS_OK) {
        (void)printf("database   %s: %s\n", engine->postgresql.database,
                     added ? "created" : "was there");
    }
    postgresql_close(c);
    return status;
}

static enum status update_tables(struct postgresql *c, struct err *err)
{
    int64_t from = 0;
    const enum status status = postgresql_schema_update(c, &from, err);
    if (status == STATUS_OK && from < POSTGRESQL_SCHEMA_VERSION) {
        (void)printf("tables     version %d, was %lld\n", POSTGRESQL_SCHEMA_VERSION,
                     (long long)from);
    } else if (status == STATUS_OK) {
        (void)printf("tables     version %lld: nothing to do\n", (long long)from);
    }
    return status;
}

static enum status init_user(struct postgresql *c, const struct engine_options *engine,
                             struct err *err)
{
    const char *file = engine->postgresql.password_file;
    char line[LAB_TOKEN_MAX + 2] = "";
    bool added = false;
    if (file[0] && !text_file_first_line(file, line, sizeof line)) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, file,
                       "the password of the lab's user cannot be read");
    }
    const enum status status = postgresql_schema_add_user(c, engine->postgresql.user,
                                                          file[0] ? line : NULL, &added, err);
    explicit_bzero(line, sizeof line);
    if (status == STATUS_OK) {
        (void)printf("user       %s: %s, may write results\n", engine->postgresql.user,
                     added ? "created" : "was there, keeps its password");
    }
    return status;
}

/* init and migrate. */
static int change_database(const struct lab_file *lab, const struct db_request *request,
                           bool init)
{
    const struct engine_options *engine = &lab->engine;
    struct postgresql *c = NULL;
    struct err err = {0};
    enum status status = init ? init_database(engine, request, &err) : STATUS_OK;
    if (status == STATUS_OK) {
        status = open_as_admin(engine, request, engine->postgresql.database, &c, &err);
    }
    if (status == STATUS_OK) {
        status = update_tables(c, &err);
    }
    if (status == STATUS_OK && init) {
        status = init_user(c, engine, &err);
    }
    postgresql_close(c);
    return status == STATUS_OK ? EXIT_FINE : print_failure(&err);
}

static int check_database(const struct lab_file *lab, const struct db_request *request)
{
    struct engine_facts facts;
    struct err err = {0};
    (void)request;
    if (engine_facts_read(lab, &facts, &err) != STATUS_OK) {
        return print_failure(&err);
    }
    return engine_facts_print(&facts, &lab->engine, "", stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

static int retire_lab(const struct lab_file *lab, const struct db_request *request)
{
    struct postgresql_target *target = NULL;
    struct postgresql *c = NULL;
    struct err err = {0};
    int64_t count = 0;
    enum status status = engine_target_create(&lab->engine, NULL, &target, &err);
    if (status == STATUS_OK) {
        status = postgresql_open(target, POSTGRESQL_WRITABLE, CONNECT_MS, &c, &err);
    }
    if (status == STATUS_OK) {
        status = engine_claim_retire(c, request->retired, CONNECT_MS, &count, &err);
    }
    postgresql_close(c);
    postgresql_target_destroy(target);
    if (status != STATUS_OK) {
        return print_failure(&err);
    }
    (void)printf("lab        %s: %lld names of pairs and teams are free\n", request->retired,
                 (long long)count);
    return EXIT_FINE;
}

/* Loads the lab file and runs an action on its database. */
static int run_action(const char *command, const struct db_request *request,
                      int (*action)(const struct lab_file *lab,
                                    const struct db_request *request))
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    int code = EXIT_USAGE;
    if (!lab_argument_load(command, request->lab, &lab)) {
        return EXIT_USAGE;
    }
    if (lab.engine.postgresql.server_count == 0) {
        complain("%s: %s has no engine.postgresql.servers, so its results are in files",
                 command, request->lab);
    } else if (lab_secrets_check(&lab, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
    } else {
        code = action(&lab, request);
    }
    lab_file_free(&lab);
    return code;
}

static int init_lab(const struct lab_file *lab, const struct db_request *request)
{
    return change_database(lab, request, true);
}

static int migrate_lab(const struct lab_file *lab, const struct db_request *request)
{
    return change_database(lab, request, false);
}

static int run_change(int argc, char **argv, const struct arguments *about,
                      int (*action)(const struct lab_file *, const struct db_request *))
{
    struct db_request request = {.admin = "postgres"};
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &request.lab, 0, 0, "FILE", "the lab file"},
        {"admin", 0, ARGUMENT_TEXT, &request.admin, 0, 0, "USER",
         "a user that may create roles and databases (postgres)"},
        {"admin-password-file", 0, ARGUMENT_TEXT, &request.password_file, 0, 0, "FILE",
         "its first line is the password of that user"},
    };
    struct arguments arguments = *about;
    arguments.rows = rows;
    arguments.row_count = COUNT(rows);
    const int code = arguments_parse(&arguments, argc, argv);
    return code != ARGUMENTS_PARSED ? code : run_action(about->command, &request, action);
}

static int db_init(int argc, char **argv)
{
    static const struct arguments about = {
        .command = "db init",
        .purpose = "create database, tables, roles and the lab's user",
        .operands = "",
        .description =
            "  Creates what is missing: the database, its tables and views, the roles\n"
            "  tandem_owner, tandem_writer and tandem_reader, and the user of the lab file, "
            "who\n"
            "  becomes a tandem_writer. It changes nothing that is there: run it as often as\n"
            "  you like. People read the views of the schema `results` as tandem_reader, who\n"
            "  needs a password first: ALTER ROLE tandem_reader PASSWORD '...'.\n",
        .exit_status = "the database refused, or does not answer"};
    return run_change(argc, argv, &about, init_lab);
}

static int db_migrate(int argc, char **argv)
{
    static const struct arguments about = {
        .command = "db migrate",
        .purpose = "bring the tables up to date",
        .operands = "",
        .description = "  Brings the tables to the version of this program. Steps only add, so "
                       "daemons of\n"
                       "  the previous version go on meanwhile. Migrate first, then replace "
                       "the daemons.\n",
        .exit_status = "the database refused, or does not answer"};
    return run_change(argc, argv, &about, migrate_lab);
}

static int db_check(int argc, char **argv)
{
    struct db_request request = {0};
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &request.lab, 0, 0, "FILE", "the lab file"},
    };
    const struct arguments arguments = {
        .command = "db check",
        .purpose = "report what endangers the results",
        .operands = "",
        .description =
            "  Connects as the daemon does. Reports each server, the tables, the synchronous\n"
            "  standbys, the clocks and dangerous settings, one line each, with the remedy, "
            "and\n"
            "  whether another lab has the name, the instance or a pair.\n",
        .exit_status = "the database cannot be used by this lab: a fault was reported",
        ARGUMENT_ROWS(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    return code != ARGUMENTS_PARSED ? code
                                    : run_action(arguments.command, &request, check_database);
}

static int db_retire(int argc, char **argv)
{
    struct db_request request = {0};
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &request.lab, 0, 0, "FILE", "a lab file"},
        {"lab", 0, ARGUMENT_TEXT, &request.retired, 0, 0, "NAME", "the lab that is gone"},
    };
    const struct arguments arguments = {
        .command = "db retire",
        .purpose = "free the names of a lab that is gone or renamed",
        .operands = "",
        .description =
            "  Other labs may then have pairs and teams of these names. The results stay in\n"
            "  the database under the old lab's name, for SQL. Lists and charts of a pair\n"
            "  show those of its new lab only. Connects as the daemon does.\n",
        .exit_status = "a daemon of that lab runs, or the database does not answer",
        ARGUMENT_ROWS(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    if (code == ARGUMENTS_PARSED && !request.retired) {
        complain("%s: --lab is missing: the name of the lab that is gone", arguments.command);
        return EXIT_USAGE;
    }
    return code != ARGUMENTS_PARSED ? code
                                    : run_action(arguments.command, &request, retire_lab);
}

int command_db(int argc, char **argv)
{
    static const struct argument_action actions[] = {
        {"init", db_init}, {"migrate", db_migrate}, {"check", db_check}, {"retire", db_retire}};
    const struct arguments arguments = {
        .command = "db",
        .operands = "ACTION -c LAB.yaml",
        .description =
            "  Prepares the PostgreSQL database that several daemons share (engine: in the "
            "lab\n"
            "  file), and reports what endangers it. docs/scale.md says when it is needed.\n"
            "\n"
            "  init     create what is missing: database, tables, roles, the lab's user\n"
            "  migrate  bring the tables to the version of this program\n"
            "  check    report servers, tables, standbys, clocks and dangerous settings\n"
            "  retire   free the names of a lab that is gone or renamed\n"
            "\n"
            "  'tandem db ACTION --help' has details.\n",
        .exit_status = "the database refused, or does not answer",
        .actions = actions,
        .action_count = COUNT(actions)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    return exit_status == ARGUMENTS_PARSED ? EXIT_USAGE : exit_status;
}
