/* config/labfile/lab_options.c - the keys of the lab file, one row each. */
#include "config/labfile/lab_file.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/codec/codecs.h"

/* clang-format off */
#define IN_LAB(m)     OPTION_AT(struct lab_file, m)
#define IN_PAIR(m)    OPTION_AT(struct lab_pair, m)
#define SHOWN_PAIR(m) offsetof(struct lab_pair, m), sizeof(((struct lab_pair *)0)->m), true, NULL
#define NO_RANGE      OPTION_NO_RANGE
#define NOT_EMPTY     1.0, 0.0, ""

/* Shorthands for a row's value: kind, unit, default, range, choices. */
#define TEXT(fallback, range)             OPTION_TEXT, "", fallback, range
#define TRUTH(fallback)                   OPTION_BOOL, "", fallback, NO_RANGE
#define CHOICE(fallback, choices)         OPTION_CHOICE, "", fallback, 0.0, 0.0, choices
#define WHOLE(unit, fallback, least, most) OPTION_INTEGER, unit, fallback, least, most, ""
#define REAL(unit, fallback, least, most) OPTION_REAL, unit, fallback, least, most, ""
#define TIME(unit, fallback, least, most) OPTION_TIME, unit, fallback, least, most, ""

/* A key with the name of its member. */
#define LAB(m, value, help)  {#m, value, IN_LAB(m), help}
#define PAIR(m, value, help) {#m, value, IN_PAIR(params.m), help}
#define LIVE_MAP(m, value, help) {"live_map." #m, value, IN_PAIR(params.live_map.m), help}
#define FOLLOWING(m, value, help) {"following." #m, value, IN_PAIR(following.m), help}

static const struct option_row tolerance_value = {
    .type = OPTION_REAL, .unit = "", .fallback = "", .max = 1e9, .choices = "", .size = sizeof(double)};
static const struct option_items tolerance_items = {
    .shape = OPTION_NAMED, .value = &tolerance_value, .most = PAIR_TOLERANCES_MAX, .bytes = sizeof(double),
    .what = "numbers (at most 12, each 0 to 1000000000)", .add = lab_add_tolerance};

static const struct option_row path_value = {
    .type = OPTION_TEXT, .unit = "", .fallback = "", .min = 1.0, .choices = "", .size = LAB_PATH_MAX};
static const struct option_items model_items = {
    .shape = OPTION_LIST, .value = &path_value, .most = MODELS_LOADED_MAX, .bytes = LAB_PATH_MAX,
    .count_at = offsetof(struct lab_file, model_count), .what = "files", .fault = FAULT_LIST_EXPECTED,
    .add = lab_add_model};
static const struct option_items machine_items = {
    .shape = OPTION_LIST, .value = &path_value, .most = LAB_MACHINES_MAX, .bytes = LAB_PATH_MAX,
    .count_at = offsetof(struct lab_file, machine_count), .what = "files", .fault = FAULT_LIST_EXPECTED,
    .add = lab_add_machines};

static const struct option_row trigger_value = {
    .type = OPTION_TEXT, .unit = "", .fallback = "", .min = 1.0, .choices = "", .size = CAPTURE_WORD_MAX};
static const struct option_items trigger_items = {
    .shape = OPTION_LIST, .value = &trigger_value, .most = CAPTURE_ON_MAX, .bytes = CAPTURE_WORD_MAX,
    .count_at = offsetof(struct lab_file, capture.on_count), .what = "triggers", .fault = FAULT_LIST_EXPECTED,
    .add = lab_add_trigger};

static const struct option_row server_value = {
    .type = OPTION_TEXT, .unit = "", .fallback = "", .min = 1.0, .choices = "", .size = LAB_HOST_MAX};
static const struct option_items server_items = {
    .shape = OPTION_LIST, .value = &server_value, .most = LAB_SERVERS_MAX, .bytes = LAB_HOST_MAX,
    .count_at = offsetof(struct lab_file, engine.postgresql.server_count), .what = "servers",
    .fault = FAULT_LIST_EXPECTED, .add = lab_add_server};

static const struct option_row lab_rows[] = {
    LAB(name, TEXT("lab", NOT_EMPTY), "Name of the lab, shown on the page and in the status."),

    LAB(broker.host, TEXT("127.0.0.1", NOT_EMPTY), "Host name or address of the MQTT broker."),
    LAB(broker.port, WHOLE("", "1883", 1.0, 65535.0), "Port of the broker; 8883 is usual with TLS."),
    LAB(broker.protocol, CHOICE("5", "5|3.1.1"), "MQTT version."),
    LAB(broker.client_id, TEXT("tandem", NOT_EMPTY),
     "Name of the session that the broker keeps; two daemons at one broker need two."),
    LAB(broker.prefix, TEXT("tandem/v1", NOT_EMPTY),
     "What every topic begins with; the pair's id follows after a slash."),
    LAB(broker.username, TEXT("", NO_RANGE), "User name at the broker."),
    LAB(broker.password_file, TEXT("", NO_RANGE), "File whose first line is the password of that user."),
    LAB(broker.telemetry_username, TEXT("", NO_RANGE),
     "User of a second connection, for telemetry alone; it needs none if username and cert_file are empty."),
    LAB(broker.telemetry_password_file, TEXT("", NO_RANGE), "File whose first line is the password of that user."),
    LAB(broker.tls.enabled, TRUTH("false"), "Encrypt the connection and check the broker's certificate."),
    LAB(broker.tls.ca_file, TEXT("", NO_RANGE),
     "Certificates (PEM) of authorities for the broker's; the system's by default."),
    LAB(broker.tls.cert_file, TEXT("", NO_RANGE),
     "Own certificate (PEM), for brokers that ask for one; needs key_file."),
    LAB(broker.tls.key_file, TEXT("", NO_RANGE), "Key (PEM, without pass phrase) of cert_file."),
    LAB(broker.keep_alive_s, WHOLE("s", "30", 5.0, 65535.0),
     "After this silence either side takes the connection for dead."),
    LAB(broker.session_expiry_s, WHOLE("s", "86400", 0.0, 4294967295.0),
     "How long the broker keeps messages for an absent daemon; 4294967295: for ever, as in MQTT 3.1.1."),
    LAB(broker.heartbeat_hz, REAL("Hz", "10", 5.0, 50.0),
     "Rate of the daemon's own messages that keep the connection awake, so that replies are stamped in time."),

    {"broker.remember_s", TIME("s", "900", 60.0, 86400.0), IN_LAB(broker.remember_us),
     "How long commands and replies are remembered, to recognise redeliveries; longer than the broker's "
     "autosave_interval."},
    LAB(broker.remember_messages, WHOLE("", "65536", DELIVERY_MIN, DELIVERY_MAX),
     "Most commands and replies remembered in the lab, 48 bytes each; a warning says if they do not reach back "
     "remember_s."),

    LAB(http.enabled, TRUTH("true"), "Serve the HTTP interface and the page."),
    LAB(http.bind, TEXT("127.0.0.1", NOT_EMPTY), "Address to listen on; any but a loopback address needs token_file."),
    LAB(http.port, WHOLE("", "8420", 0.0, 65535.0), "Port to listen on; 0 takes any free one and prints it."),
    LAB(http.token_file, TEXT("", NO_RANGE),
     "File whose first line is the bearer token (16 characters or more) of writing requests; without it HTTP "
     "only reads."),
    LAB(http.threads, WHOLE("", "2", 1.0, 4.0), "Threads that answer requests."),
    LAB(http.connections_max, WHOLE("", "64", 4.0, 1000.0),
     "Connections open at once; if all are in use, the one idle for longest is closed."),
    LAB(http.listeners_max, WHOLE("", "2000", 0.0, 10000.0),
     "Listeners to the stream of events, besides those connections; more get 503. About 40 kB each."),
    LAB(http.client_connections_max, WHOLE("", "512", 0.0, 100000.0),
     "Connections of one address (a proxy is one); requests on further ones get 429. 0: no limit."),
    LAB(http.client_requests_per_s, WHOLE("", "500", 0.0, 1000000.0),
     "Requests per second of one address, in bursts of five seconds' worth; more get 429. 0: no limit."),
    LAB(http.hosts, TEXT("", NO_RANGE),
     "Further names of the server, separated by commas; a request with another Host gets 421."),
    LAB(http.tls_certificate, TEXT("", NO_RANGE),
     "Certificate (PEM, followed by its chain) to serve HTTPS instead of HTTP; needs tls_key."),
    LAB(http.tls_key, TEXT("", NO_RANGE), "Key (PEM, without pass phrase) of tls_certificate."),
    LAB(http.upload_mb, WHOLE("MB", "32", 1.0, 64.0),
     "Longest recording accepted for identification (1 MB = 1 000 000 bytes)."),
    LAB(http.uploads_max, WHOLE("", "4", 1.0, 16.0),
     "Recordings in memory at once; more get 429."),

    LAB(journal.dir, TEXT("journal", NOT_EMPTY), "Directory of the journal; it is made when missing."),
    LAB(journal.record, CHOICE("all", "all|events"), "Write every message, or all but telemetry."),
    LAB(journal.rotate_mb, WHOLE("MB", "64", 1.0, 4000.0),
     "A new file is begun at this size (1 MB = 1 000 000 bytes)."),
    {"journal.rotate_s", TIME("s", "86400", 60.0, 31536000.0), IN_LAB(journal.rotate_us),
     "A new file is begun at this age."},
    LAB(journal.retain_mb, WHOLE("MB", "8000", 0.0, 4000000000.0),
     "The oldest files are removed beyond this size in all; 0 keeps everything."),
    {"journal.fsync_s", TIME("s", "1", 0.0, 60.0), IN_LAB(journal.fsync_us),
     "Most that a power cut loses; 0: each message is synced before it is acknowledged."},
    LAB(journal.min_free_mb, WHOLE("MB", "200", 0.0, 4000000000.0),
     "Less free space than this for journal, store or checkpoint is reported; 0: never."),

    LAB(store.file, TEXT("tandem.db", NOT_EMPTY), "SQLite database of entries, alarms and parameter sets."),
    LAB(store.commit_ms, WHOLE("ms", "100", 1.0, 10000.0),
     "Results are committed in batches this often, and when somebody reads them."),
    LAB(store.retain_days, WHOLE("days", "0", 0.0, 36500.0),
     "Entries and alarms older than this are removed; 0 keeps everything."),

    {"engine.postgresql.servers", OPTION_ARRAY(server_items, struct lab_file, engine.postgresql.servers),
     "Servers of a database for several daemons: [db1:5432, db2:5432], tried at once; the writable one is used. []: no "
     "database, all is in files."},
    LAB(engine.postgresql.database, TEXT("tandem", NOT_EMPTY), "Name of the database; tandem db init creates it."),
    LAB(engine.postgresql.user, TEXT("tandem", NOT_EMPTY), "The daemon's user; tandem db init creates it."),
    LAB(engine.postgresql.password_file, TEXT("", NO_RANGE), "File whose first line is the password of that user."),
    LAB(engine.postgresql.tls.ca_file, TEXT("", NO_RANGE),
     "Certificates (PEM) of authorities for the servers'; their names are checked. Only loopback needs no TLS."),
    LAB(engine.postgresql.require_sync, WHOLE("", "0", 0.0, 7.0),
     "Fewer synchronous standbys than this are a fault of the check."),
    LAB(engine.role, CHOICE("results", "results|owner"),
     "results: only results are in the database. owner: the journal, too, and another daemon of this lab takes over "
     "when this one ends."),
    {"engine.renew_s", TIME("s", "0.3", 0.05, 10.0), IN_LAB(engine.renew_us),
     "role owner: an idle owner writes this often."},
    {"engine.safe_s", TIME("s", "1", 0.1, 30.0), IN_LAB(engine.safe_us),
     "role owner: nothing is sent later than this after the start of the last successful write."},
    {"engine.take_s", TIME("s", "1.5", 0.2, 60.0), IN_LAB(engine.take_us),
     "role owner: an owner that wrote nothing for this time is replaced; the same in all daemons of the lab."},
    LAB(engine.instance, TEXT("", NO_RANGE), "Name of this daemon, unique in the database; needed with servers."),
    LAB(engine.advertise, TEXT("", NO_RANGE), "Where readers reach this daemon, such as https://a.lab:8420."),

    LAB(checkpoint.file, TEXT("tandem.checkpoint", NOT_EMPTY),
     "State of the lab for the next start; the journal's tail after it is read again."),
    {"checkpoint.interval_s", TIME("s", "10", 0.1, 3600.0), IN_LAB(checkpoint.interval_us),
     "How often it is written: the longer, the longer the tail."},

    {"capture.on", OPTION_ARRAY(trigger_items, struct lab_file, capture.on),
     "Save the pair's messages around these events: types of alarms, verdict.BEHIND, abs_lag_s>0.5; [] saves none."},
    {"capture.before_s", TIME("s", "10", 0.0, 600.0), IN_LAB(capture.before_us), "Time saved before the event."},
    {"capture.after_s", TIME("s", "5", 0.0, 600.0), IN_LAB(capture.after_us),
     "Time saved after it; further events of the pair lengthen a capture, up to ten times this."},
    {"capture.every_s", TIME("s", "60", 0.0, 86400.0), IN_LAB(capture.every_us),
     "Shortest time between the begins of two captures of a pair."},
    LAB(capture.keep, WHOLE("", "100", 1.0, 10000.0), "Most captures; the oldest are removed."),
    LAB(capture.keep_mb, WHOLE("MB", "1000", 1.0, 4000000000.0),
        "Most megabytes of all; one being copied counts twice. The oldest are removed."),

    LAB(alarms.webhook.url, TEXT("", NO_RANGE),
     "Each alarm is posted here, signed; https, or http on loopback; needs key_file."),
    LAB(alarms.webhook.key_file, TEXT("", NO_RANGE),
     "File whose first line is the key of the signature (16 characters)."),

    LAB(log.level, CHOICE("info", "error|warn|info|debug"),
     "What the daemon writes on stderr: errors, also warnings, also lifecycle, or everything."),

    {"models", OPTION_ARRAY(model_items, struct lab_file, models),
     "Files with models of motion: a list of paths from the lab file's folder; dynamics.model names them."},
    {"machines", OPTION_ARRAY(machine_items, struct lab_file, machines),
     "Files with state machines of the lab's robots: a list of paths from the lab file's folder; the page shows "
     "them."},
    {"defaults", OPTION_MAP, "", "", OPTION_BY_HAND,
     "Options of every pair that does not set them."},
    {"pairs", OPTION_MAP, "", "", OPTION_BY_HAND,
     "The pairs by their ids; required. An id has 1 to 31 letters, digits, _ or -."},
    {"teams", OPTION_MAP, "", "", OPTION_BY_HAND,
     "Teams of robots that share places and tools, by name; a name must not be a pair's id."},
};

static const struct option_row pair_rows[] = {
    {"count", WHOLE("", "0", 1.0, LAB_PAIRS_MAX), SHOWN_PAIR(count),
     "Number of equal pairs: r with count 3 is r1, r2 and r3. Not under defaults."},
    {"kind", CHOICE("diffdrive", "diffdrive|usv3|joint|first_order|generic"), SHOWN_PAIR(params.kind),
     "Model of the robot."},
    PAIR(mode, CHOICE("observe", "observe|link"),
     "observe: Tandem listens; link: Tandem sends each command to both robots and merges the replies."),
    PAIR(record, CHOICE("smart", "smart|all"), "Keep entries and alarms only, or every event."),
    PAIR(arm, TEXT("", NO_RANGE),
     "Both robots are arms of six joints with these lengths: ur5, ur5e or paper."),
    PAIR(codec, TEXT("native", NOT_EMPTY), "Codec of its robots' messages; native is docs/protocol.md."),
    {"real.name", TEXT("", NO_RANGE), IN_PAIR(params.speaks.address[SIDE_REAL]),
     "Name of the real robot for its codec; `real: NAME` is short for it."},
    {"real.version", OPTION_WORD, "", "", NO_RANGE, SHOWN_PAIR(params.version[SIDE_REAL]),
     "Version of the real robot's program, for entries, fits and reports; that in its connection goes before."},
    {"virtual.name", TEXT("", NO_RANGE), IN_PAIR(params.speaks.address[SIDE_VIRTUAL]),
     "The same for the virtual robot; `virtual: NAME` is short for it."},
    {"virtual.version", OPTION_WORD, "", "", NO_RANGE, SHOWN_PAIR(params.version[SIDE_VIRTUAL]),
     "Version of the simulator, likewise."},
    {"mapping", OPTION_MAP, "", "", OPTION_BY_HAND,
     "Codecs mapping and sparkplug: a file with rows (next to this one, else in the working directory), or the "
     "rows: [docs/robots/mapping.md](robots/mapping.md)."},
    {"map", TEXT("", NO_RANGE), SHOWN_PAIR(params.map),
     "Map of the robots' world for the page and for missions: obstacles, as tandem robot --map reads them, or a ROS "
     "map ([docs/model/missions.md](model/missions.md#a-ros-map))."},
    PAIR(missions_max, WHOLE("", "0", 0.0, PAIR_MISSIONS_MAX),
     "Link mode: missions that may wait for their turn (docs/protocol/mission.md); 0: the pair takes none."),
    {"plausible", CHOICE("on", "off|on"), IN_PAIR(params.dynamics.plausible),
     "Suspect, and do not promote, fitted values that look like another unit's."},
    {"sync_tolerance_s", TIME("s", "0.05", 0.0, 3600.0), IN_PAIR(params.sync_tolerance_us),
     "Replies no further apart are SYNC."},
    {"timeout_s", TIME("s", "30", 0.001, 86400.0), IN_PAIR(params.timeout_us),
     "A side that has not replied by then is a TIMEOUT."},
    PAIR(value_tolerance_abs, REAL("", "-1", -1.0, 1e9),
     "Values of two replies agree within this, in their own unit. Below 0: 0.02, of arms 0.002."),
    PAIR(value_tolerance_ratio, REAL("", "0", 0.0, 1.0),
     "Values other than angles also agree within this share of the larger one."),
    {"tolerances", OPTION_ARRAY(tolerance_items, struct lab_pair, params.tolerances),
     "Instead of both, by name (`psi_rad`) or unit (`_rad`); names go before units, longer before shorter: "
     "`{_rad: 0.05, _m: 0.02}`."},
    PAIR(correct, CHOICE("off", "off|after_inconsistency|each_move"),
     "After which moves the simulator receives the real robot's pose: none, those whose poses disagree, each."),
    PAIR(outstanding_max, WHOLE("", "16", 1.0, PAIR_OUTSTANDING_MAX), "Commands open at once; one more is an alarm."),
    PAIR(queue_max, WHOLE("", "16", 1.0, PAIR_OUTSTANDING_MAX),
     "Link mode: commands that wait for a busy side; one more is an alarm."),
    {"real_expected", CHOICE("auto", "auto|always|never"), IN_PAIR(params.expected[SIDE_REAL]),
     "Link mode: send commands to the real robot unless it is offline, always or never."},
    {"virtual_expected", CHOICE("auto", "auto|always|never"), IN_PAIR(params.expected[SIDE_VIRTUAL]),
     "Link mode: the same for the virtual robot."},
    {"real_clock", CHOICE("wall", "wall|simulation"), IN_PAIR(params.source_clock[SIDE_REAL]),
     "Meaning of t in the real robot's messages: real time, or simulated time."},
    {"virtual_clock", CHOICE("wall", "wall|simulation"), IN_PAIR(params.source_clock[SIDE_VIRTUAL]),
     "The same for the virtual robot; an explicit sim_t in its messages needs no option."},
    {"probe_interval_s", TIME("s", "0", 0.0, 3600.0), IN_PAIR(params.probe_interval_us),
     "Send both robots a clock probe this often; 0 sends none."},
    {"link_cycle_s", TIME("s", "0.025", 0.0001, 60.0), IN_PAIR(params.link_cycle_us),
     "Link mode: period in which the lag of the virtual robot is counted."},

    {"clock.bucket_s", TIME("s", "1", 0.001, 3600.0), IN_PAIR(params.clock.bucket_us),
     "The fastest message of each such span is kept to compare a robot's clock with the lab's."},
    {"clock.jump_s", TIME("s", "0.5", 0.001, 86400.0), IN_PAIR(params.clock.jump_us),
     "A larger step of a robot's clock means that it was set."},
    PAIR(clock.drift_ppm_max, REAL("ppm", "500", 1.0, 10000.0),
     "Largest drift assumed of a robot's clock."),

    {"parameters.promote", CHOICE("manual", "manual|auto"), IN_PAIR(params.promote),
     "Who promotes fitted parameters to the simulator: a person over HTTP, or Tandem if they pass their checks."},
    {"parameters.form", CHOICE("auto", "absolute|relative|auto"), IN_PAIR(params.form),
     "How the simulator applies travel times: values as they are, adjust of its own start values, or as it "
     "acknowledges."},
    {"parameters.propose_every", WHOLE("", "10", 1.0, 1000000.0), IN_PAIR(params.propose_every),
     "auto: moves of the real robot between two proposals."},

    {"forecast.publish", CHOICE("none", "none|late|each"), IN_PAIR(params.forecast_publish),
     "Forecasts of open commands over MQTT: of each command, or of those that are later than predicted."},

    {"calibration.method", CHOICE("auto", "ols|huber|tukey|auto"), IN_PAIR(params.method),
     "Fit of the travel times: least squares, robust, more robust, or chosen by the residuals."},
    {"calibration.motion", CHOICE("both", "both|turns|drives"), IN_PAIR(params.motion),
     "Kinds of moves: a joint only turns, a slide only drives. Not needed for arms, see arm."},
    {"calibration.window", WHOLE("", "128", 20.0, PAIR_WINDOW_MAX), IN_PAIR(params.window),
     "Number of newest moves in the fit."},
    {"calibration.publish_every", WHOLE("", "5", 1.0, 1000000.0), IN_PAIR(params.publish_every),
     "Entries between two calibration messages."},
    {"calibration.walk_ratio", REAL("", "0.003", 0.0, 1.0), IN_PAIR(params.kalman.walk_ratio),
     "Filter: change of the parameters from move to move, as a share of their nominal values."},
    {"calibration.gate_sd", REAL("", "2.5", 0.5, 100.0), IN_PAIR(params.kalman.gate_sd),
     "Filter: standard deviations beyond which a lap counts no further."},
    {"calibration.noise_s", REAL("s", "0.05", 0.000001, 3600.0), IN_PAIR(params.kalman.noise_s),
     "Filter: standard deviation of a lap to begin with; it adapts."},
    {"calibration.nominal_angular_speed_radps", REAL("rad/s", "1", 0.0001, 1000.0),
     IN_PAIR(params.kalman.nominal_w_radps),
     "Filter: turning speed to begin with."},
    {"calibration.nominal_linear_speed_mps", REAL("m/s", "0.2", 0.0001, 1000.0), IN_PAIR(params.kalman.nominal_v_mps),
     "Filter: driving speed to begin with."},
    {"calibration.drift_ratio", REAL("", "0.05", 0.001, 1.0), IN_PAIR(params.kalman.drift_ratio),
     "A change of a speed by this share is a drift alarm."},
    {"calibration.warmup", WHOLE("", "12", 2.0, 100000.0), IN_PAIR(params.kalman.warmup),
     "Moves before drift is judged."},

    PAIR(dynamics.model, TEXT("", NO_RANGE),
     "Model (of tandem models) whose parameters are identified from telemetry while the robots run."),
    PAIR(dynamics.sides, CHOICE("both", "real|virtual|both"), "Whose parameters."),
    PAIR(dynamics.method, CHOICE("auto", "ols_central|ols_sg|weak|weak_iv|output_error|pem|auto"),
     "Method of the batch fits; auto chooses by the samples."),
    PAIR(dynamics.biases, TRUTH("false"), "Find a constant effort per axis as well."),
    PAIR(dynamics.hold, CHOICE("auto", "zoh|linear|auto"),
     "An effort acts until the next sample (zoh), as the mean of both (linear), or as samples suggest."),
    PAIR(dynamics.promote, CHOICE("manual", "manual|auto"),
     "Who promotes the real robot's values: a person over HTTP, or Tandem if a fit passes its checks and "
     "differs."),
    PAIR(dynamics.window, WHOLE("", "3000", DYNAMICS_WINDOW_MIN, DYNAMICS_WINDOW_MAX),
     "Samples kept for a batch fit, thinned if more come in window_s."),
    {"dynamics.window_s", TIME("s", "150", 5.0, 86400.0), IN_PAIR(params.dynamics.window_us),
     "How far back they reach; the first fit begins with half of it."},
    {"dynamics.refit_s", TIME("s", "600", 0.0, 31536000.0), IN_PAIR(params.dynamics.refit_us),
     "Between two batch fits; 0: only the first one, on drift and on request."},
    PAIR(dynamics.refit_on_drift, TRUTH("true"),
     "Fit again when a parameter has changed, with samples from after the change."),
    {"dynamics.fit_timeout_s", TIME("s", "300", 1.0, 86400.0), IN_PAIR(params.dynamics.fit_timeout_us),
     "A batch fit that has not ended by then is given up, with an alarm."},
    PAIR(dynamics.drift_ratio, REAL("", "0.1", 0.005, 10.0), "A change of a parameter by this share is a drift alarm."),
    PAIR(dynamics.gate_sd, REAL("", "5", 2.0, 100.0),
     "A velocity further from the prediction than this many standard deviations is skipped."),
    {"dynamics.gap_s", TIME("s", "1", 0.001, 3600.0), IN_PAIR(params.dynamics.gap_us),
     "Samples further apart do not follow each other."},
    {"dynamics.stale_s", TIME("s", "10", 0.001, 86400.0), IN_PAIR(params.dynamics.stale_us),
     "Samples that took longer to arrive are skipped."},
    {"dynamics.excitation_s", TIME("s", "30", 0.1, 3600.0), IN_PAIR(params.dynamics.excitation_us),
     "A parameter is updated while the motion of this long determines it by itself."},

    LIVE_MAP(range_m, REAL("m", "0", 0.0, GRID_RANGE_MAX_M),
     "Range of the lidar, beyond which a ray saw nothing: a map is made of its sweeps. 0: no map."),
    LIVE_MAP(cell_m, REAL("m", "0.05", 0.03, 1.0), "Side of a cell of the map."),
    LIVE_MAP(x_min_m, REAL("m", "-10", -10000.0, 10000.0), "Corners of the map, in the frame of the robots' poses."),
    LIVE_MAP(y_min_m, REAL("m", "-10", -10000.0, 10000.0), "At most 250000 cells lie between them."),
    LIVE_MAP(x_max_m, REAL("m", "10", -10000.0, 10000.0), "The upper right corner."),
    LIVE_MAP(y_max_m, REAL("m", "10", -10000.0, 10000.0), "The same, along y."),
    {"live_map.every_s", TIME("s", "1", 0.1, 3600.0), IN_PAIR(params.live_map.every_us),
     "A sweep that begins sooner after the last one used is skipped: each costs the lab milliseconds."},
    LIVE_MAP(builder, CHOICE("real", "real|virtual"),
     "Whose sweeps make the map; those of the other robot show how far it is off."),
    LIVE_MAP(unknown_factor, REAL("", "0", 0.0, COSTMAP_FACTOR_MAX),
     "Missions: how many times its length a way through unknown cells costs, 1 or more; 0: it is forbidden."),
    LIVE_MAP(angle, TEXT("angle_rad", NOT_EMPTY), "Name of the value with a ray's angle, rad from the heading."),
    LIVE_MAP(range, TEXT("range_m", NOT_EMPTY), "Name of the value with its length, m."),
    LIVE_MAP(poses, CHOICE("both", "both|telemetry|replies"), "Messages that state the robot's pose."),
    LIVE_MAP(correct, TRUTH("false"), "`correct` sends the real robot's pose on the map instead of the one it states."),

    FOLLOWING(model, TEXT("", NO_RANGE),
     "Model (of tandem models) of both robots; without it the virtual robot does not follow."),
    FOLLOWING(active, TRUTH("false"),
     "Follow from the start; otherwise on request over HTTP."),
    FOLLOWING(real, TEXT("", NO_RANGE),
     "First parameters of the real robot: wamv, iacquabot, ur5, or name=value with commas; a passing fit "
     "replaces them."),
    {"following.virtual", TEXT("", NO_RANGE), IN_PAIR(following.simulated),
     "The same for the virtual robot; a fit, or a parameter set in force, replaces them."},
    FOLLOWING(method, CHOICE("model", "model|efforts|raw|difference|alpha_beta|ramp"),
     "What is followed: telemetry through the real robot's model, that model under efforts alone, telemetry "
     "without a model, or (arms) with ramps of the effort."),
    FOLLOWING(rate_hz, REAL("Hz", "100", 1.0, 1000.0), "Control periods per second."),
    FOLLOWING(bandwidth_radps, REAL("rad/s", "5", 0.001, 500.0),
     "How fast an error of the velocity decays; at most half the control periods per second."),
    FOLLOWING(rejection, CHOICE("observer", "none|integral|observer"),
     "Against unmodelled forces and wrong parameters."),
    FOLLOWING(observer_radps, REAL("rad/s", "8", 0.001, 500.0), "How fast the observer finds such forces."),
    FOLLOWING(pose_per_s2, REAL("1/s^2", "-1", -1.0, 1000.0),
     "Pose feedback; 0: none; below 0: a quarter of the bandwidth's square for wheels and arms. Refused if an "
     "axis has no effort."),
    FOLLOWING(blend_s, REAL("s", "0.5", 0.0, 60.0),
     "Time constant with which a jump of the effort fades, after a change."),
    FOLLOWING(vessel, TEXT("", NO_RANGE),
     "Actuators of the virtual robot: wamv, iacquabot or ur5; by default one effort an axis."),
    FOLLOWING(limits, TEXT("", NO_RANGE),
     "Largest effort on each axis, with commas (0: none); no limit by default."),
    {"following.noise_sd", TEXT("", NO_RANGE), IN_PAIR(following.noise),
     "Standard deviation of each measured velocity of the real robot, with commas; else 0.01."},
    {"following.stale_s", TIME("s", "0.5", 0.01, 60.0), IN_PAIR(following.stale_us),
     "After this long without telemetry the last velocity is held."},
    {"following.hold_s", TIME("s", "0.5", 0.0, 600.0), IN_PAIR(following.hold_us),
     "After this long again it is ramped down."},
    {"following.ramp_s", TIME("s", "2", 0.01, 600.0), IN_PAIR(following.ramp_us),
     "Duration of that ramp to a stop."},
    {"following.latency_max_s", TIME("s", "1", 0.001, 60.0), IN_PAIR(following.latency_us),
     "A sample with an older stamp counts as this old."},
    FOLLOWING(target_m, REAL("m", "0.05", 0.0, 1e6),
     "How near the virtual robot must be to the real one's place; 0: no target."),
    {"following.target_s", TIME("s", "0.05", 0.0, 60.0), IN_PAIR(following.target_us), "How near it must be in time."},
    FOLLOWING(target_ratio, REAL("", "0.95", 0.0, 1.0), "Share of the samples that must be so near; less is an alarm."),
    {"following.window_s", TIME("s", "60", 1.0, 86400.0), IN_PAIR(following.window_us),
     "Window of the fidelity."},
};
/* clang-format on */

const struct option_table lab_options = {lab_rows, COUNT(lab_rows)};

/* --- options of codecs -------------------------------------------------------------------- */

static struct option_row all_rows[OPTION_ROWS_MAX];
static struct option_table pair_table = {all_rows, 0};

static struct option_row codec_row(const struct codec *codec, const struct codec_option *o)
{
    static const enum option_type types[] = {[CODEC_TEXT] = OPTION_TEXT,
                                             [CODEC_FLAG] = OPTION_BOOL,
                                             [CODEC_CHOICE] = OPTION_CHOICE,
                                             [CODEC_WHOLE] = OPTION_INTEGER};
    return (struct option_row){.path = o->key,
                               .type = types[o->type],
                               .unit = "",
                               .fallback = o->fallback,
                               .min = o->min,
                               .max = o->max,
                               .choices = o->choices,
                               .offset = offsetof(struct lab_pair, params.speaks.own) +
                                         codec_own_at(codec) + o->offset,
                               .size = o->size,
                               .help = o->help};
}

/* The rows of codecs follow that of the mapping. */
static void join_rows(void)
{
    for (size_t i = 0; i < COUNT(pair_rows); i++) {
        all_rows[pair_table.count++] = pair_rows[i];
        for (size_t k = 0; strcmp(pair_rows[i].path, "mapping") == 0 && k < codec_count; k++) {
            const struct codec *codec = codecs[k];
            assert(codec_own_at(codec) + codec->option_bytes <= CODEC_OWN_BYTES);
            for (size_t n = 0; n < codec->option_count; n++) {
                assert(pair_table.count + COUNT(pair_rows) - i <= OPTION_ROWS_MAX);
                all_rows[pair_table.count++] = codec_row(codec, &codec->options[n]);
            }
        }
    }
}

const struct option_table *lab_pair_options(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, join_rows);
    return &pair_table;
}

/* --- defaults and views ------------------------------------------------------------------- */

struct lab_params lab_file_params(const struct lab_file *lab)
{
    return (struct lab_params){.pair_count = lab->pair_count,
                               .pairs = lab->pairs,
                               .prefix = lab->broker.prefix,
                               .team_count = lab->teams.team_count,
                               .teams = lab->teams.teams,
                               .remember_max = lab->broker.remember_messages,
                               .remember_us = lab->broker.remember_us};
}

void lab_pair_defaults(struct pair_params *out, const char *id)
{
    struct lab_pair pair = {0};
    option_defaults(lab_pair_options(), &pair);
    (void)snprintf(pair.params.id, sizeof pair.params.id, "%s", id);
    (void)snprintf(pair.params.speaks.pair, sizeof pair.params.speaks.pair, "%s", id);
    *out = pair.params;
}

void lab_following_defaults(struct pair_following_params *out)
{
    struct lab_pair pair = {0};
    option_defaults(lab_pair_options(), &pair);
    *out = pair.following;
}

void lab_pair_of(const struct pair_params *params, struct lab_pair *out)
{
    *out = (struct lab_pair){.params = *params};
    if (params->following) {
        out->following = *params->following;
    } else {
        lab_following_defaults(&out->following);
    }
}

uint64_t lab_fingerprint(const struct lab_params *p)
{
    uint64_t hash = lab_layout(p);
    for (size_t i = 0; i < p->pair_count; i++) {
        const char *id = p->pairs[i].id;
        struct lab_pair pair;
        lab_pair_of(&p->pairs[i], &pair);
        hash = hash_bytes(hash, id, strlen(id) + 1);
        hash = option_hash(lab_pair_options(), &pair, hash);
        hash = mapping_table_hash(p->pairs[i].speaks.mapping, hash);
        if (p->pairs[i].world) {
            hash = hash_bytes(hash, p->pairs[i].world, sizeof *p->pairs[i].world);
        }
        if (p->pairs[i].costmap) {
            hash = hash_bytes(hash, p->pairs[i].costmap, costmap_bytes(p->pairs[i].costmap));
        }
    }
    for (size_t i = 0; i < p->team_count; i++) {
        hash = hash_bytes(hash, &p->teams[i].hash, sizeof p->teams[i].hash);
    }
    return hash;
}

_Static_assert(COUNT(lab_rows) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");
_Static_assert(COUNT(pair_rows) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");
/* The choices above are spelled out, so they must match the enums. */
_Static_assert(PAIR_KIND_COUNT == 5 && PAIR_GENERIC == 4, "kinds");
_Static_assert(PAIR_MODE_COUNT == 2 && PAIR_LINK == 1, "modes");
_Static_assert(PAIR_CORRECT_COUNT == 3 && PAIR_CORRECT_EACH_MOVE == 2, "corrections");
_Static_assert(PAIR_RECORD_COUNT == 2 && PAIR_ALL == 1, "records");
_Static_assert(SIDE_COUNT == 2 && SIDE_VIRTUAL == 1, "builders");
_Static_assert(SWEEP_POSE_COUNT == 3 && SWEEP_POSE_REPLIES == 2, "poses");
_Static_assert(PAIR_PRESENCE_COUNT == 3 && PAIR_NEVER == 2, "presences");
_Static_assert(DYNAMICS_METHOD_COUNT == 6 && DYNAMICS_PEM == 5, "methods of dynamics");
_Static_assert(INPUT_INTERPOLATION_COUNT == 3 && INPUT_INTERPOLATION_AUTO == 2, "holds");
_Static_assert(DYNAMICS_SIDES_COUNT == 3 && DYNAMICS_SIDES_BOTH == 2, "sides");
_Static_assert(PARAMETERS_FORM_COUNT == 2 && PARAMETERS_RELATIVE == 1, "forms");
_Static_assert((int)TRAVEL_DRIVES == 2 && (int)TRAVEL_TURNS == 1, "motions");
_Static_assert(TRAVEL_METHOD_COUNT == 4 && TRAVEL_AUTO == 3, "methods");
