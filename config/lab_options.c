/* The keys of the lab file: one row each. */
#include "config/lab_options.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* clang-format off */
#define IN_LAB(m)     OPTION_AT(struct lab_file, m)
#define IN_PAIR(m)    OPTION_AT(struct lab_pair, m)
#define SHOWN_PAIR(m) offsetof(struct lab_pair, m), sizeof(((struct lab_pair *)0)->m), true
#define NO_RANGE      OPTION_NO_RANGE
#define NOT_EMPTY     1.0, 0.0, ""

static const struct option_row lab_rows[] = {
    {"name", OPTION_TEXT, "", "lab", NOT_EMPTY, IN_LAB(name),
     "Name of the lab, shown on the page and in the status."},

    {"broker.host", OPTION_TEXT, "", "127.0.0.1", NOT_EMPTY, IN_LAB(broker.host),
     "Host name or address of the MQTT broker."},
    {"broker.port", OPTION_INTEGER, "", "1883", 1.0, 65535.0, "", IN_LAB(broker.port),
     "Port of the broker; 8883 is usual with TLS."},
    {"broker.protocol", OPTION_CHOICE, "", "5", 0.0, 0.0, "5|3.1.1", IN_LAB(broker.protocol),
     "MQTT version to speak."},
    {"broker.client_id", OPTION_TEXT, "", "tandem", NOT_EMPTY, IN_LAB(broker.client_id),
     "Name of the session that the broker keeps; two daemons at one broker need two."},
    {"broker.prefix", OPTION_TEXT, "", "tandem/v1", NOT_EMPTY, IN_LAB(broker.prefix),
     "What every topic begins with; the pair's id follows after a slash."},
    {"broker.username", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(broker.username),
     "User name at the broker."},
    {"broker.password_file", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(broker.password_file),
     "File whose first line is the password of that user."},
    {"broker.tls.enabled", OPTION_BOOL, "", "false", NO_RANGE, IN_LAB(broker.tls.enabled),
     "Encrypt the connection and check the broker's certificate."},
    {"broker.tls.ca_file", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(broker.tls.ca_file),
     "Certificates (PEM) of the authorities that may vouch for the broker; without it, the system's."},
    {"broker.tls.cert_file", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(broker.tls.cert_file),
     "Own certificate (PEM), for brokers that ask for one; needs key_file."},
    {"broker.tls.key_file", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(broker.tls.key_file),
     "Key (PEM, without pass phrase) of cert_file."},
    {"broker.keep_alive_s", OPTION_INTEGER, "s", "30", 5.0, 65535.0, "", IN_LAB(broker.keep_alive_s),
     "A connection silent for this long is taken for dead, by either side."},
    {"broker.session_expiry_s", OPTION_INTEGER, "s", "86400", 0.0, 4294967295.0, "", IN_LAB(broker.session_expiry_s),
     "How long the broker keeps messages for a daemon that is away; 4294967295 is for ever, 0 loses them. MQTT 3.1.1 "
     "knows no limit."},
    {"broker.heartbeat_hz", OPTION_REAL, "Hz", "10", 5.0, 50.0, "", IN_LAB(broker.heartbeat_hz),
     "Rate of the daemon's own messages that keep the connection awake; on a sleeping one a reply would be stamped "
     "up to 0.1 s late."},

    {"http.enabled", OPTION_BOOL, "", "true", NO_RANGE, IN_LAB(http.enabled),
     "Serve the HTTP interface and the page."},
    {"http.bind", OPTION_TEXT, "", "127.0.0.1", NOT_EMPTY, IN_LAB(http.bind),
     "Address to listen on; any but a loopback address needs token_file."},
    {"http.port", OPTION_INTEGER, "", "8420", 0.0, 65535.0, "", IN_LAB(http.port),
     "Port to listen on; 0 takes any free one and prints it."},
    {"http.token_file", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(http.token_file),
     "File whose first line is the bearer token that writing requests must carry; without it nothing can be written "
     "over HTTP."},
    {"http.threads", OPTION_INTEGER, "", "2", 1.0, 4.0, "", IN_LAB(http.threads),
     "Threads that answer requests."},
    {"http.connections_max", OPTION_INTEGER, "", "64", 4.0, 1000.0, "", IN_LAB(http.connections_max),
     "Connections open at once; more are turned away."},
    {"http.listeners_max", OPTION_INTEGER, "", "2000", 0.0, 10000.0, "", IN_LAB(http.listeners_max),
     "Listeners to the stream of events at once, beyond those connections; more are refused with 503. About 40 kB "
     "each while connected."},
    {"http.client_connections_max", OPTION_INTEGER, "", "512", 0.0, 100000.0, "", IN_LAB(http.client_connections_max),
     "Connections of one address at once (a proxy is one); requests over more are refused with 429. 0: no limit."},
    {"http.client_requests_per_s", OPTION_INTEGER, "", "500", 0.0, 1000000.0, "", IN_LAB(http.client_requests_per_s),
     "Requests a second of one address, of which those of five seconds may come at once; more are refused with 429. "
     "0: no limit."},
    {"http.hosts", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(http.hosts),
     "Names by which clients call the server, with commas between, beyond localhost and its address; a request with "
     "another Host is refused with 421."},
    {"http.tls_certificate", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(http.tls_certificate),
     "Certificate (PEM, with those that vouch for it behind) to serve HTTPS with, instead of HTTP; needs tls_key."},
    {"http.tls_key", OPTION_TEXT, "", "", NO_RANGE, IN_LAB(http.tls_key),
     "Key (PEM, without pass phrase) of tls_certificate."},
    {"http.upload_mb", OPTION_INTEGER, "MB", "32", 1.0, 64.0, "", IN_LAB(http.upload_mb),
     "Longest recording that is taken for identification (1 MB = 1 000 000 bytes)."},
    {"http.uploads_max", OPTION_INTEGER, "", "4", 1.0, 16.0, "", IN_LAB(http.uploads_max),
     "Recordings held in memory at once: on their way, waiting for their fit, or being fitted; more are refused with "
     "429."},

    {"journal.dir", OPTION_TEXT, "", "journal", NOT_EMPTY, IN_LAB(journal.dir),
     "Directory of the journal; it is made when missing."},
    {"journal.record", OPTION_CHOICE, "", "all", 0.0, 0.0, "all|events", IN_LAB(journal.record),
     "Write every message, or all but telemetry."},
    {"journal.rotate_mb", OPTION_INTEGER, "MB", "64", 1.0, 4000.0, "", IN_LAB(journal.rotate_mb),
     "A new file is begun at this size (1 MB = 1 000 000 bytes)."},
    {"journal.rotate_s", OPTION_TIME, "s", "86400", 60.0, 31536000.0, "", IN_LAB(journal.rotate_us),
     "A new file is begun at this age."},
    {"journal.retain_mb", OPTION_INTEGER, "MB", "8000", 0.0, 4000000000.0, "", IN_LAB(journal.retain_mb),
     "The oldest files are removed beyond this size in all; 0 keeps everything."},
    {"journal.fsync_s", OPTION_TIME, "s", "1", 0.0, 60.0, "", IN_LAB(journal.fsync_us),
     "At most so much is lost when the power fails; a crash of the daemon loses nothing."},

    {"store.file", OPTION_TEXT, "", "tandem.db", NOT_EMPTY, IN_LAB(store.file),
     "SQLite database of entries, alarms and parameter sets."},
    {"store.commit_ms", OPTION_INTEGER, "ms", "100", 1.0, 10000.0, "", IN_LAB(store.commit_ms),
     "Results are committed in batches this often."},
    {"store.retain_days", OPTION_INTEGER, "days", "0", 0.0, 36500.0, "", IN_LAB(store.retain_days),
     "Entries and alarms older than this are removed; 0 keeps everything."},

    {"checkpoint.file", OPTION_TEXT, "", "tandem.checkpoint", NOT_EMPTY, IN_LAB(checkpoint.file),
     "State of the lab for the next start; the journal's tail after it is read again."},
    {"checkpoint.interval_s", OPTION_TIME, "s", "10", 0.1, 3600.0, "", IN_LAB(checkpoint.interval_us),
     "How often it is written: the longer, the longer the tail."},

    {"log.level", OPTION_CHOICE, "", "info", 0.0, 0.0, "error|warn|info|debug", IN_LAB(log.level),
     "What the daemon writes on stderr: errors, what is worth a look, lifecycle, or everything."},

    {"defaults", OPTION_MAP, "", "", OPTION_BY_HAND,
     "Options of every pair that does not set them itself."},
    {"pairs", OPTION_MAP, "", "", OPTION_BY_HAND,
     "The pairs by their ids; required. An id has 1 to 31 letters, digits, _ or -."},
};

static const struct option_row pair_rows[] = {
    {"count", OPTION_INTEGER, "", "0", 1.0, LAB_PAIRS_MAX, "", SHOWN_PAIR(count),
     "Stands for so many pairs alike: r with count 3 is r1, r2 and r3. Not under defaults."},
    {"kind", OPTION_CHOICE, "", "diffdrive", 0.0, 0.0, "diffdrive|usv3|joint|first_order|generic",
     SHOWN_PAIR(params.kind),
     "Model of the robot."},
    {"mode", OPTION_CHOICE, "", "observe", 0.0, 0.0, "observe|link", IN_PAIR(params.mode),
     "observe: the lab commands both robots and Tandem listens; link: Tandem takes each command, sends it to both "
     "and merges the replies."},
    {"record", OPTION_CHOICE, "", "smart", 0.0, 0.0, "smart|all", IN_PAIR(params.record),
     "Keep entries and alarms only, or every event."},
    {"codec", OPTION_TEXT, "", "native", NOT_EMPTY, IN_PAIR(params.codec),
     "What its robots speak: the name of a codec; native is docs/protocol.md."},
    {"map", OPTION_TEXT, "", "", NO_RANGE, SHOWN_PAIR(params.map),
     "Map of the world that the robots move in, as tandem robot --map reads it: drawn under their tracks on the "
     "page, nothing else."},
    {"sync_tolerance_s", OPTION_TIME, "s", "0.05", 0.0, 3600.0, "", IN_PAIR(params.sync_tolerance_us),
     "Replies no further apart are SYNC."},
    {"timeout_s", OPTION_TIME, "s", "30", 0.001, 86400.0, "", IN_PAIR(params.timeout_us),
     "A side that has not replied by then is a TIMEOUT."},
    {"value_tolerance_abs", OPTION_REAL, "", "0.02", 0.0, 1e9, "", IN_PAIR(params.value_tolerance_abs),
     "Values of two replies that differ by no more agree, in the value's own unit."},
    {"value_tolerance_ratio", OPTION_REAL, "", "0.05", 0.0, 1.0, "", IN_PAIR(params.value_tolerance_ratio),
     "So do values that differ by no more than this share of the larger one."},
    {"outstanding_max", OPTION_INTEGER, "", "16", 1.0, PAIR_OUTSTANDING_MAX, "", IN_PAIR(params.outstanding_max),
     "Commands open at once; one more is an alarm."},
    {"queue_max", OPTION_INTEGER, "", "16", 1.0, PAIR_OUTSTANDING_MAX, "", IN_PAIR(params.queue_max),
     "Link mode: commands that wait for a busy side; one more is an alarm."},
    {"real_expected", OPTION_CHOICE, "", "auto", 0.0, 0.0, "auto|always|never", IN_PAIR(params.expected[SIDE_REAL]),
     "Link mode: send commands to the real robot unless it is offline, always or never."},
    {"virtual_expected", OPTION_CHOICE, "", "auto", 0.0, 0.0, "auto|always|never",
     IN_PAIR(params.expected[SIDE_VIRTUAL]),
     "Link mode: the same for the virtual robot."},
    {"real_clock", OPTION_CHOICE, "", "wall", 0.0, 0.0, "wall|simulation", IN_PAIR(params.source_clock[SIDE_REAL]),
     "What t counts in the real robot's messages: real time, or simulated time that may run faster or slower."},
    {"virtual_clock", OPTION_CHOICE, "", "wall", 0.0, 0.0, "wall|simulation",
     IN_PAIR(params.source_clock[SIDE_VIRTUAL]),
     "The same for the virtual robot; an explicit sim_t in its messages needs no option."},
    {"probe_interval_s", OPTION_TIME, "s", "0", 0.0, 3600.0, "", IN_PAIR(params.probe_interval_us),
     "Send both robots a clock probe this often; 0 sends none."},
    {"link_cycle_s", OPTION_TIME, "s", "0.025", 0.0001, 60.0, "", IN_PAIR(params.link_cycle_us),
     "Link mode: period in which the lag of the virtual robot is counted."},

    {"clock.bucket_s", OPTION_TIME, "s", "1", 0.001, 3600.0, "", IN_PAIR(params.clock.bucket_us),
     "The fastest message of each such span is kept to compare a robot's clock with the lab's."},
    {"clock.jump_s", OPTION_TIME, "s", "0.5", 0.001, 86400.0, "", IN_PAIR(params.clock.jump_us),
     "A larger step of a robot's clock means that it was set."},
    {"clock.drift_ppm_max", OPTION_REAL, "ppm", "500", 1.0, 10000.0, "", IN_PAIR(params.clock.drift_ppm_max),
     "Largest drift that a robot's clock is believed to have."},

    {"parameters.promote", OPTION_CHOICE, "", "manual", 0.0, 0.0, "manual|auto", IN_PAIR(params.promote),
     "Who hands the real robot's fitted parameters to the simulator: a person over HTTP, or Tandem when they pass "
     "their checks."},
    {"parameters.propose_every", OPTION_INTEGER, "", "10", 1.0, 1000000.0, "", IN_PAIR(params.propose_every),
     "auto: moves of the real robot between two proposals."},

    {"calibration.method", OPTION_CHOICE, "", "auto", 0.0, 0.0, "ols|huber|tukey|auto", IN_PAIR(params.method),
     "Fit of the travel times: least squares, robust, more robust, or what the residuals ask for."},
    {"calibration.window", OPTION_INTEGER, "", "128", 20.0, PAIR_WINDOW_MAX, "", IN_PAIR(params.window),
     "Newest moves that the fit rests on."},
    {"calibration.publish_every", OPTION_INTEGER, "", "5", 1.0, 1000000.0, "", IN_PAIR(params.publish_every),
     "Entries between two calibration messages."},
    {"calibration.walk_ratio", OPTION_REAL, "", "0.003", 0.0, 1.0, "", IN_PAIR(params.kalman.walk_ratio),
     "Filter: how much the parameters may change from move to move, as a share of their nominal values."},
    {"calibration.gate_sd", OPTION_REAL, "", "2.5", 0.5, 100.0, "", IN_PAIR(params.kalman.gate_sd),
     "Filter: a lap further off than this many standard deviations counts no more than one at that distance."},
    {"calibration.noise_s", OPTION_REAL, "s", "0.05", 0.000001, 3600.0, "", IN_PAIR(params.kalman.noise_s),
     "Filter: standard deviation of a lap to begin with; it adapts."},
    {"calibration.nominal_angular_speed_radps", OPTION_REAL, "rad/s", "1", 0.0001, 1000.0, "",
     IN_PAIR(params.kalman.nominal_w_radps),
     "Filter: turning speed to begin with."},
    {"calibration.nominal_linear_speed_mps", OPTION_REAL, "m/s", "0.2", 0.0001, 1000.0, "",
     IN_PAIR(params.kalman.nominal_v_mps),
     "Filter: driving speed to begin with."},
    {"calibration.drift_ratio", OPTION_REAL, "", "0.05", 0.001, 1.0, "", IN_PAIR(params.kalman.drift_ratio),
     "A change of a speed by this share is a drift alarm."},
    {"calibration.warmup", OPTION_INTEGER, "", "12", 2.0, 100000.0, "", IN_PAIR(params.kalman.warmup),
     "Moves before drift is judged."},

    {"dynamics.model", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.dynamics.model),
     "Model whose parameters are identified from telemetry while the robots run, as tandem identify lists them; "
     "without it none are."},
    {"dynamics.sides", OPTION_CHOICE, "", "both", 0.0, 0.0, "real|virtual|both", IN_PAIR(params.dynamics.sides),
     "Whose parameters."},
    {"dynamics.method", OPTION_CHOICE, "", "auto", 0.0, 0.0, "ols_central|ols_sg|weak|weak_iv|output_error|pem|auto",
     IN_PAIR(params.dynamics.method),
     "Of the batch fits; auto chooses by what the samples ask for."},
    {"dynamics.biases", OPTION_BOOL, "", "false", NO_RANGE, IN_PAIR(params.dynamics.biases),
     "Find a constant effort per axis as well."},
    {"dynamics.promote", OPTION_CHOICE, "", "manual", 0.0, 0.0, "manual|auto", IN_PAIR(params.dynamics.promote),
     "Who hands the real robot's values to the simulator: a person over HTTP, or Tandem when a fit passes its checks "
     "and is news."},
    {"dynamics.window", OPTION_INTEGER, "", "3000", DYNAMICS_WINDOW_MIN, DYNAMICS_WINDOW_MAX, "",
     IN_PAIR(params.dynamics.window),
     "Samples kept for a batch fit; when more come in window_s, every second or third … is kept."},
    {"dynamics.window_s", OPTION_TIME, "s", "150", 5.0, 86400.0, "", IN_PAIR(params.dynamics.window_us),
     "How far back they reach; the first fit begins with half of it."},
    {"dynamics.refit_s", OPTION_TIME, "s", "600", 0.0, 31536000.0, "", IN_PAIR(params.dynamics.refit_us),
     "Between two batch fits; 0: only the first one, on drift and on request."},
    {"dynamics.refit_on_drift", OPTION_BOOL, "", "true", NO_RANGE, IN_PAIR(params.dynamics.refit_on_drift),
     "Fit anew when a parameter has changed, with samples from after the change."},
    {"dynamics.fit_timeout_s", OPTION_TIME, "s", "300", 1.0, 86400.0, "", IN_PAIR(params.dynamics.fit_timeout_us),
     "A batch fit that has not ended by then is given up, with an alarm."},
    {"dynamics.drift_ratio", OPTION_REAL, "", "0.1", 0.005, 10.0, "", IN_PAIR(params.dynamics.drift_ratio),
     "A change of a parameter by this share is a drift alarm."},
    {"dynamics.gate_sd", OPTION_REAL, "", "5", 2.0, 100.0, "", IN_PAIR(params.dynamics.gate_sd),
     "A velocity further from the predicted one than so many standard deviations is passed over."},
    {"dynamics.gap_s", OPTION_TIME, "s", "1", 0.001, 3600.0, "", IN_PAIR(params.dynamics.gap_us),
     "Samples further apart do not follow each other."},
    {"dynamics.stale_s", OPTION_TIME, "s", "10", 0.001, 86400.0, "", IN_PAIR(params.dynamics.stale_us),
     "Samples that were under way for longer are passed over."},
    {"dynamics.excitation_s", OPTION_TIME, "s", "30", 0.1, 3600.0, "", IN_PAIR(params.dynamics.excitation_us),
     "A parameter learns while the motion of so long would tell it by itself."},

    {"following.model", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.model),
     "Model of both robots by which the virtual one is driven after the real one, as tandem identify lists them; "
     "without it it is not."},
    {"following.active", OPTION_BOOL, "", "false", NO_RANGE, IN_PAIR(params.following.active),
     "Drive it from the start; else when asked over HTTP. What is known of both is compared in any case."},
    {"following.real", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.real),
     "Parameters of the real robot to begin with: wamv, iacquabot, or name=value with commas; a batch fit that "
     "passes goes before them."},
    {"following.virtual", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.simulated),
     "The same of the virtual robot; a fit, and a parameter set in force, go before them."},
    {"following.method", OPTION_CHOICE, "", "model", 0.0, 0.0, "model|efforts|raw|difference|alpha_beta",
     IN_PAIR(params.following.method),
     "What is followed: telemetry through the real robot's model, that model under the reported efforts alone, or "
     "telemetry without a model."},
    {"following.rate_hz", OPTION_REAL, "Hz", "100", 1.0, 1000.0, "", IN_PAIR(params.following.rate_hz),
     "Control periods per second."},
    {"following.bandwidth_radps", OPTION_REAL, "rad/s", "5", 0.001, 500.0, "",
     IN_PAIR(params.following.bandwidth_radps),
     "How fast an error of the velocity decays; at most half the control periods per second."},
    {"following.rejection", OPTION_CHOICE, "", "observer", 0.0, 0.0, "none|integral|observer",
     IN_PAIR(params.following.rejection),
     "Against unmodelled forces and wrong parameters."},
    {"following.observer_radps", OPTION_REAL, "rad/s", "8", 0.001, 500.0, "", IN_PAIR(params.following.observer_radps),
     "How fast the observer finds such forces."},
    {"following.pose_per_s2", OPTION_REAL, "1/s^2", "0", 0.0, 1000.0, "", IN_PAIR(params.following.pose_per_s2),
     "Pose feedback; 0 is none. Refused where not every axis can be pushed."},
    {"following.blend_s", OPTION_REAL, "s", "0.5", 0.0, 60.0, "", IN_PAIR(params.following.blend_s),
     "Time constant with which a jump of the effort fades, after a change."},
    {"following.vessel", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.vessel),
     "Vessel whose thrusters push the virtual robot: wamv or iacquabot; without it every axis is pushed by itself."},
    {"following.limits", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.limits),
     "Largest effort on each axis, with commas; 0 for an axis that cannot be pushed. Without it there is no limit."},
    {"following.noise_sd", OPTION_TEXT, "", "", NO_RANGE, IN_PAIR(params.following.noise),
     "Standard deviation of each measured velocity of the real robot, with commas; 0.01 of each otherwise."},
    {"following.stale_s", OPTION_TIME, "s", "0.5", 0.01, 60.0, "", IN_PAIR(params.following.stale_us),
     "No telemetry for so long: the last velocity is held."},
    {"following.hold_s", OPTION_TIME, "s", "0.5", 0.0, 600.0, "", IN_PAIR(params.following.hold_us),
     "And for so long again: it is ramped down."},
    {"following.ramp_s", OPTION_TIME, "s", "2", 0.01, 600.0, "", IN_PAIR(params.following.ramp_us),
     "From there to a stop in so long."},
    {"following.latency_max_s", OPTION_TIME, "s", "1", 0.001, 60.0, "", IN_PAIR(params.following.latency_us),
     "A sample that claims to be older counts as so old."},
    {"following.target_m", OPTION_REAL, "m", "0.05", 0.0, 1e6, "", IN_PAIR(params.following.target_m),
     "How near the virtual robot shall be to the real one's place; 0: no target."},
    {"following.target_s", OPTION_TIME, "s", "0.05", 0.0, 60.0, "", IN_PAIR(params.following.target_us),
     "And how near in time."},
    {"following.target_ratio", OPTION_REAL, "", "0.95", 0.0, 1.0, "", IN_PAIR(params.following.target_ratio),
     "For this share of the samples; less is an alarm."},
    {"following.window_s", OPTION_TIME, "s", "60", 1.0, 86400.0, "", IN_PAIR(params.following.window_us),
     "Over which fidelity is told."},
};
/* clang-format on */

const struct option_table lab_options = {lab_rows, COUNT(lab_rows)};
const struct option_table lab_pair_options = {pair_rows, COUNT(pair_rows)};

void lab_pair_defaults(struct pair_params *out, const char *id)
{
    struct lab_pair pair = {0};
    option_defaults(&lab_pair_options, &pair);
    (void)snprintf(pair.params.id, sizeof pair.params.id, "%s", id);
    *out = pair.params;
}

uint64_t lab_fingerprint(const struct lab_params *p)
{
    uint64_t hash = lab_layout(p);
    for (size_t i = 0; i < p->pair_count; i++) {
        const char *id = p->pairs[i].id;
        hash = hash_bytes(hash, id, strlen(id) + 1);
        hash = option_hash(&lab_pair_options, &p->pairs[i], hash);
    }
    return hash;
}

_Static_assert(COUNT(lab_rows) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");
_Static_assert(COUNT(pair_rows) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");
_Static_assert(offsetof(struct lab_pair, params) == 0, "rows must fit a struct pair_params");
/* The choices above are written out: they must follow the enums. */
_Static_assert(PAIR_KIND_COUNT == 5 && PAIR_GENERIC == 4, "kinds");
_Static_assert(PAIR_MODE_COUNT == 2 && PAIR_LINK == 1, "modes");
_Static_assert(PAIR_RECORD_COUNT == 2 && PAIR_ALL == 1, "records");
_Static_assert(PAIR_PRESENCE_COUNT == 3 && PAIR_NEVER == 2, "presences");
_Static_assert(DYNAMICS_METHOD_COUNT == 6 && DYNAMICS_PEM == 5, "methods of dynamics");
_Static_assert(DYNAMICS_SIDES_COUNT == 3 && DYNAMICS_SIDES_BOTH == 2, "sides");
_Static_assert(TRAVEL_METHOD_COUNT == 4 && TRAVEL_AUTO == 3, "methods");
