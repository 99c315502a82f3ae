/* config/labfile/lab_file.h - the lab file: broker, pairs, teams, HTTP, journal and store of
 * one lab.
 *
 * It is one YAML file (docs/config.md, lab.schema.json). Every key has a default that works
 * with a broker on localhost. It is parsed once into plain structs, so no option is looked up
 * by name later. All faults of a file are reported at once, with line and column.
 */
#ifndef CONFIG_LABFILE_LAB_FILE_H
#define CONFIG_LABFILE_LAB_FILE_H

#include "config/labfile/capture_options.h"
#include "config/machine/machine_pictures.h"
#include "config/mapping/mapping_file.h"
#include "config/model/model_file.h"
#include "config/options/option_file.h"
#include "config/team/team_file.h"
#include "twin/lab.h"
#include "twin/map/costmap.h"
#include "twin/sim/robot/world.h"

enum { LAB_MACHINES_MAX = 16 }; /* machine files */
enum { LAB_NAME_MAX = 64, LAB_PATH_MAX = 256, LAB_HOST_MAX = 128, LAB_PREFIX_MAX = 128 };
enum { LAB_SERVERS_MAX = 8 }; /* of a database */

enum broker_protocol { BROKER_MQTT_5, BROKER_MQTT_3_1_1 };

struct broker_options {
    char host[LAB_HOST_MAX];
    uint16_t port;
    enum broker_protocol protocol;
    char client_id[LAB_NAME_MAX];
    char prefix[LAB_PREFIX_MAX]; /* first levels of every topic, without a slash at the end */
    char username[LAB_HOST_MAX]; /* "": none */
    char password_file[LAB_PATH_MAX];
    char telemetry_username[LAB_HOST_MAX]; /* for a second connection; "": see config.md */
    char telemetry_password_file[LAB_PATH_MAX];
    struct {
        bool enabled;
        char ca_file[LAB_PATH_MAX]; /* "": the system's certificate authorities */
        char cert_file[LAB_PATH_MAX];
        char key_file[LAB_PATH_MAX];
    } tls;
    uint32_t keep_alive_s;
    uint32_t session_expiry_s;
    double heartbeat_hz;
    int64_t remember_us;
    uint32_t remember_messages;
};

struct http_options {
    bool enabled;
    char bind[LAB_HOST_MAX];
    uint16_t port;                 /* 0: any free one */
    char token_file[LAB_PATH_MAX]; /* "": no writing over HTTP */
    uint32_t threads;
    uint32_t connections_max;
    uint32_t listeners_max;             /* clients of the event stream */
    uint32_t client_connections_max;    /* per address; 0: any number */
    uint32_t client_requests_per_s;     /* per address; 0: any number */
    char hosts[OPTION_TEXT_MAX];        /* "a, b" */
    char tls_certificate[LAB_PATH_MAX]; /* "": plain HTTP */
    char tls_key[LAB_PATH_MAX];
    uint32_t upload_mb; /* 1 MB = 1 000 000 bytes */
    uint32_t uploads_max;
};

enum journal_record { JOURNAL_ALL, JOURNAL_EVENTS };

struct journal_options {
    char dir[LAB_PATH_MAX];
    enum journal_record record;
    uint32_t rotate_mb; /* 1 MB = 1 000 000 bytes */
    int64_t rotate_us;
    uint32_t retain_mb; /* 0: keep everything */
    int64_t fsync_us;
    uint32_t min_free_mb; /* 0: low space is not reported */
};

struct store_options {
    char file[LAB_PATH_MAX];
    uint32_t commit_ms;
    uint32_t retain_days; /* 0: keep everything */
};

/* The database has the results only, or also the journal of a lab that several daemons own in
 * turn. */
enum engine_role { ENGINE_RESULTS, ENGINE_OWNER };

/* A database that several daemons share. */
struct engine_options {
    struct {
        size_t server_count;                         /* 0: no engine; all stays in files */
        char servers[LAB_SERVERS_MAX][LAB_HOST_MAX]; /* "db1:5432"; 5432 is the default port */
        char database[LAB_NAME_MAX];
        char user[LAB_NAME_MAX];
        char password_file[LAB_PATH_MAX]; /* "": the server asks for none */
        struct {
            char ca_file[LAB_PATH_MAX]; /* "": no TLS, only to loopback addresses */
        } tls;
        uint32_t require_sync; /* synchronous standbys */
    } postgresql;
    enum engine_role role;
    int64_t renew_us, safe_us, take_us; /* struct ownership_params */
    char instance[LAB_NAME_MAX];        /* unique among the daemons of the database */
    char advertise[LAB_PATH_MAX];       /* "": readers are not sent here */
};

struct checkpoint_options {
    char file[LAB_PATH_MAX];
    int64_t interval_us;
};

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log_options {
    enum log_level level;
};

/* Settings shared by all pairs with the same `following` section. */
struct lab_following {
    struct lab_following *next;
    struct pair_following_params params;
};

/* A map for missions, shared by the pairs that name its file. */
struct lab_world {
    struct lab_world *next;
    const char *path; /* as a pair names it */
    struct world world;
    struct costmap *costmap; /* owned; instead of the world, if it is a map of ROS; else NULL */
};

struct lab_file { /* all zero is empty and may be freed */
    char name[LAB_NAME_MAX];
    struct broker_options broker;
    struct http_options http;
    struct journal_options journal;
    struct store_options store;
    struct engine_options engine;
    struct checkpoint_options checkpoint;
    struct capture_options capture;
    struct {
        struct {
            char url[LAB_PATH_MAX]; /* "": none */
            char key_file[LAB_PATH_MAX];
        } webhook;
    } alarms;
    struct log_options log;
    struct pair_params defaults; /* defaults of every pair; id is "" */
    struct pair_params *pairs;   /* [pair_count] owned; in the order of the file, ids unique */
    size_t pair_count;           /* 1..LAB_PAIRS_MAX */
    struct team_file teams;      /* owned; teams of these pairs */
    /* Model files by their paths as written; they are registered when the lab file is read. */
    size_t model_count;
    char models[MODELS_LOADED_MAX][LAB_PATH_MAX];
    size_t machine_count;
    char machines[LAB_MACHINES_MAX][LAB_PATH_MAX]; /* file paths as written */
    struct machine_pictures pictures;              /* owned; pictures of these machines */
    struct mapping_table *tables;                  /* owned; mapping tables of the pairs */
    /* owned; of the defaults, and of pairs that differ from them */
    struct lab_following *followings;
    struct lab_world *worlds; /* owned; maps of pairs that take missions */
};

/* The option tables write to a struct lab_file and a struct lab_pair. */
struct lab_pair {
    struct pair_params params; /* its own `following` is ignored; the member below counts */
    struct pair_following_params following;
    uint32_t count; /* number of pairs that this entry makes; 0: not given */
};

/* A hash of all pair options and of the state's memory layout. A checkpoint may only be loaded
 * into a lab with the same fingerprint. */
uint64_t lab_fingerprint(const struct lab_params *p);

/* The maps of missions with a hash of their contents, "map.yaml=4f1c… ", for the journal: a
 * replay plans the same routes on the same maps only. Those beyond out[size] are left out. */
void lab_format_maps(const struct lab_file *lab, char *out, size_t size);

extern const struct option_table lab_options;

/* Items of the file's lists: paths of files with models and machines, which are loaded. */
void lab_add_model(const struct option_reading *item, void *value, void *owner);
void lab_add_machines(const struct option_reading *item, void *value, void *owner);
void lab_add_tolerance(const struct option_reading *item, void *value, void *owner);
void lab_add_trigger(const struct option_reading *item, void *value, void *owner);
void lab_add_server(const struct option_reading *item, void *value, void *owner);

/* The options of a pair: the lab's, and those of every codec (struct codec_option). */
const struct option_table *lab_pair_options(void);

/* The parameters of a lab with this file; they borrow its pairs and teams. */
struct lab_params lab_file_params(const struct lab_file *lab);

/* Set all options of a pair to their defaults, with this id; following is off. */
void lab_pair_defaults(struct pair_params *out, const char *id);

/* Set the options of following to their defaults, without a model. */
void lab_following_defaults(struct pair_following_params *out);

/* View a pair's options as the rows of lab_pair_options() address them. */
void lab_pair_of(const struct pair_params *params, struct lab_pair *out);

/* Read and check a lab file.
 *
 *   path    in
 *   out     out; written only on STATUS_OK, then to be freed with lab_file_free()
 *   errors  in/out; receives all faults, in the order of the file
 *
 * Returns STATUS_E_IO (it cannot be read), STATUS_E_PARSE (faults were added to *errors) or
 * STATUS_E_NOMEM, each with at least one fault in *errors. Cold path: allocates. */
MUST_USE enum status lab_file_load(const char *path, struct lab_file *out,
                                   struct err_list *errors);

/* The same from memory; name stands for the path in the faults. */
MUST_USE enum status lab_file_parse(const char *text, size_t bytes, const char *name,
                                    struct lab_file *out, struct err_list *errors);

/* The teams of a lab file, or of a file of their own with `team:` or `teams:`; otherwise the
 * same as lab_file_load(), *out to be freed with team_file_free(). */
MUST_USE enum status lab_file_load_teams(const char *path, struct team_file *out,
                                         struct err_list *errors);
/* The same of a text, as lab_file_parse(). */
MUST_USE enum status lab_file_parse_teams(const char *text, size_t bytes, const char *name,
                                          struct team_file *out, struct err_list *errors);

/* NULL is allowed. */
void lab_file_free(struct lab_file *lab);

/* Print the effective values as a lab file that reads back to the same values: every key, for
 * each pair what differs from `defaults`, for each team the text of the file. */
void lab_file_print(const struct lab_file *lab, FILE *out);

/* The page around the tables of keys: config/labfile/lab_page.txt (cmake/embed.cmake). */
extern const unsigned char lab_page[];

/* Print docs/config.md and config/lab.schema.json as they must be in the source tree. */
void lab_file_print_docs(FILE *out);
MUST_USE enum status lab_file_print_schema(FILE *out);

/* --- what a lab file must fulfil beyond the range of each single value ----------------------
 */

/* Report contradictions: in the whole file, in one pair's options, or in the defaults. */
void lab_check_file(const struct option_reading *reading, const struct lab_file *lab);
void lab_check_pair(const struct option_reading *reading, const struct lab_pair *pair);

/* The same for following; also parses its texts. */
void lab_check_following(const struct option_reading *reading, struct pair_following_params *p);

/* Parse the texts of following (parameters by name, limits, noise, a known vessel) and check
 * the gains. STATUS_E_RANGE with err, whose `where` is the key ("limits"). */
MUST_USE enum status following_text_parse(struct pair_following_params *p, struct err *err);

/* Robots of teams must be pairs of the lab in link mode; node: the teams. */
void lab_check_teams(struct option_reader *r, uint32_t node, const struct team_file *teams,
                     const struct pair_params *pairs, size_t pair_count);

/* Check the journal's size and options against the needs of the pairs. */
void lab_check_journal(const struct option_reading *reading, const struct lab_file *lab,
                       const struct pair_params *pairs, size_t pair_count);

#endif
