# cmake/deps.sh - the packages that Tandem needs from Debian 12, and why; sourced by ./run and ./test.
#
#   deps_install PACKAGE...      install missing packages (with sudo when not root)
#   deps_build PRESET TARGET...  configure the source tree $root and build into build/PRESET
#
# Both show one line that moves. They show the tools' output only after a failure: its last lines, and what to do.

deps_to_build='
    gcc                 the compiler
    libc6-dev           the C library (only recommended by gcc)
    cmake               the build
    ninja-build         its back end
    pkg-config          finds the libraries
    libgsl-dev          linear algebra, least squares, statistics
    libjansson-dev      JSON
    libsqlite3-dev      the store
    libpq-dev           PostgreSQL as the store of a fleet; cmake -DTANDEM_POSTGRESQL=OFF builds without
    libyaml-dev         the lab file
    libexpat1-dev       drawings of machines: their XML
    zlib1g-dev          drawings of machines: packed pages
    libmicrohttpd-dev   HTTP
    libgnutls28-dev     HTTPS: says what is wrong with a certificate (libmicrohttpd is built on it)
    libcurl4-gnutls-dev posts alarms to a webhook; GnuTLS, like HTTPS here
    libpaho-mqtt-dev    MQTT
    libmodbus-dev       answers in Modbus TCP (service/wire), and the client of the C example
    libjs-dygraphs      draws the charts of the page, compiled in
    graphviz            draws the state machines of the page, compiled in
    libsystemd-dev      says to systemd how the daemon is
    libcunit1-dev       unit tests
'
deps_to_run='
    mosquitto           the broker of the demo and of the tests
    mosquitto-clients   sends and records messages: README, tutorials, password files
    curl                asks the daemon: README, tutorials, the examples
'
deps_to_test='
    openssl             certificates for the TLS tests
    python3             scripts around the program
    python3-paho-mqtt   the robot that a tutorial writes
    python3-jsonschema  the messages and HTTP answers against their schemas
    jq                  reads the answers
    postgresql          the database of a fleet, one or three nodes for the test alone
    sqlite3             saves the store as docs/operations.md says
    python3-yaml        the example labs against theirs
    clang               the second compiler
    libclang-rt-14-dev  its sanitizers (only recommended by clang)
    gnuplot-nox         draws what identify simulates
    nodejs              runs the functions of the Node-RED flow (npm, if there: axe-core for the page)
    prometheus          promtool reads /metrics back
    chromium            the page is looked at as people see it
    chromium-driver     takes the browser where a test wants it
    python3-selenium    speaks to that driver
    mbpoll              a Modbus client, from the command line
    python3-pymodbus    another one, of the Python example
    python3-serial-asyncio  clients of pymodbus cannot be imported without it (only recommended by it)
    python3-paho-mqtt   runs examples/robot: a robot, a controller, a bridge in Python
    lua5.1              runs programs made of machines, as CoppeliaSim does
    lua5.4              the newer Lua does so too
    gcc-avr             the C client as it is on an ATmega328P: how large it is, and at work
    avr-libc            its C library
    libsimavr-dev       runs that firmware
    git                 ./test --changed asks it what differs
    patch               adds by each recipe of docs/adding.md what it says
    python3-pykdl       where the tool of an arm is, by others
'
deps_to_package='
    dpkg-dev            finds the libraries a package depends on
    debootstrap         the bare Debian it is tested in
    python3             does there what systemd would
'

# The first words of the lines of a list.
deps_names() {
    printf '%s\n' "$@" | awk 'NF { print $1 }'
}

deps_is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

deps_root() {
    if [ "$(id -u)" = 0 ]; then
        env "$@"
    else
        sudo env "$@"
    fi
}

# Removes the ban on starting services, if it is ours.
deps_allow_services() {
    if [ -n "${deps_policy:-}" ]; then
        deps_root rm -f "$deps_policy"
        deps_policy=
    fi
}

# Packages that bring a service (mosquitto) would start it; nobody asked for that.
deps_forbid_services() {
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        deps_policy=/usr/sbin/policy-rc.d
        printf '#!/bin/sh\nexit 101\n' | deps_root tee "$deps_policy" >/dev/null
        deps_root chmod 755 "$deps_policy"
        trap deps_allow_services EXIT
        trap 'exit 130' INT TERM
    fi
}

deps_on_terminal() {
    [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]
}

# Shows "LABEL TEXT" as the line that moves: rewritten in place on a terminal, elsewhere a line at each quarter.
deps_show() { # LABEL TEXT PERCENT
    if deps_on_terminal; then
        printf '\r%s %s\033[K' "$1" "$2"
    else
        [ "$1" = "$deps_label" ] || deps_quarter=0
        [ $(($3 / 25)) -le "$deps_quarter" ] || echo "$1 $2"
        deps_label=$1
        deps_quarter=$(($3 / 25))
    fi
}

# Shows the progress of apt or ninja from standard input, and returns its exit status. All other lines go to deps_log.
deps_follow() { # LABEL [LABEL OF FETCHING]
    deps_label=
    deps_status=1
    while IFS= read -r deps_line; do
        deps_percent=${deps_line#*:*:}
        deps_percent=${deps_percent%%[!0-9]*}
        case $deps_line in
            '@ninja '*' Re-'*) ;; # it looks for new files, or runs cmake again
            '@ninja '*/*' '*)
                deps_line=${deps_line#@ninja }
                deps_total=${deps_line#*/}
                deps_total=${deps_total%% *}
                deps_line=${deps_line%%/*}
                deps_show "$1" "$deps_line of $deps_total" $((100 * deps_line / deps_total)) ;;
            dlstatus:*) ! deps_on_terminal || deps_show "${2:-}" "$deps_percent %" 0 ;;
            pmstatus:*:[0-9]*) deps_show "$1" "$deps_percent %" "$deps_percent" ;;
            pmstatus:*) ;;
            '@exit '*) deps_status=${deps_line#@exit } ;;
            *) printf '%s\n' "$deps_line" >>"$deps_log" ;;
        esac
    done
    ! deps_on_terminal || printf '\r\033[K'
    return "$deps_status"
}

# Prints why apt or the build failed: the last lines of deps_log, and what to do about it.
deps_explain() { # ADVICE
    if grep -q '^FAILED: ' "$deps_log"; then # by ninja: the first failure, without the long command
        sed -n '/^FAILED: /,$p' "$deps_log" | sed 2d | head -n 20 >&2
    else
        tail -n 10 "$deps_log" >&2
    fi
    if grep -qi 'no space left\|enough free space' "$deps_log"; then
        echo "The disk is full. Make room, then start again." >&2
    elif grep -qi 'failure resolving\|could not \(resolve\|connect\)\|cannot initiate the conn' "$deps_log"; then
        echo "The package servers cannot be reached. Check the network, then start again." >&2
    else
        echo "$1" >&2
    fi
}

# Fails if the disk of the folder DIR has less than MB megabytes free.
deps_check_room() { # MB DIR
    deps_free=$(df -Pm "$2" | awk 'NR == 2 { print $4 }')
    if [ "$deps_free" -lt "$1" ]; then
        echo "The disk of $2 has $deps_free MB free, and $1 MB are needed. Make room, then start again." >&2
        return 1
    fi
}

# deps_missing: those of the packages that are not installed.
deps_find_missing() { # PACKAGE...
    deps_missing=
    for deps_package in "$@"; do
        deps_is_installed "$deps_package" || deps_missing="$deps_missing $deps_package"
    done
}

# Asks apt about deps_missing: deps_count new packages, deps_upgrades of installed ones, deps_mb on the disk.
deps_plan() {
    # shellcheck disable=SC2086 # a list of packages
    deps_answer=$(LC_ALL=C apt-get -o Debug::NoLocking=true install --no-install-recommends --assume-no \
        $deps_missing 2>&1) || true
    deps_count=$(echo "$deps_answer" | sed -n 's/.* \([0-9]*\) newly installed.*/\1/p')
    deps_upgrades=$(echo "$deps_answer" | sed -n 's/^\([0-9]*\) upgraded.*/\1/p')
    # The archives stay on the disk (apt clean removes them), in addition to their contents.
    deps_mb=$(echo "$deps_answer" | awk '/^Need to get|^After this operation/ {
        for (i = 2; i <= NF; i++)
            if ($i == "MB" || $i == "GB") { sub(/.*\//, "", $(i - 1)); sum += $(i - 1) * ($i == "GB" ? 1000 : 1) }
        } END { printf "%.0f", sum }')
    if [ -z "$deps_count" ]; then
        echo "$deps_answer" >>"$deps_log"
        return 1
    fi
}

deps_apt() { # LABEL OF FETCHING, APT-GET ARGUMENT...
    deps_fetching=$1
    shift
    { # sudo closes all descriptors above 2, so a shell inside it opens the one for the progress.
        # shellcheck disable=SC2016 # that shell expands "$@"
        if deps_root DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -c 'exec "$@" 3>&1 >&2' sh apt-get \
            -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=300 "$@" 2>>"$deps_log"; then
            echo '@exit 0'
        else
            echo '@exit 1'
        fi
    } | deps_follow "installing packages:" "$deps_fetching"
}

# An update that fails is no fault in itself: one of many servers may be off.
deps_update() {
    deps_apt "fetching lists of packages:" update || true
}

deps_install_missing() ( # a shell of its own: the traps of the caller stay
    # dpkg waits for the disk after each file. Without that, 170 packages take half the time on a slow disk: 55 s, not
    # 106 s. A power cut meanwhile can leave empty files in new packages. In upgraded ones it could break the system.
    deps_unsafe=
    [ "$deps_upgrades" != 0 ] || deps_unsafe='-o Dpkg::Options::=--force-unsafe-io'
    deps_forbid_services
    deps_result=0
    # shellcheck disable=SC2086 # lists of words
    deps_apt "fetching packages:" $deps_unsafe install -y --no-install-recommends $deps_missing || deps_result=1
    deps_allow_services
    [ -z "$deps_unsafe" ] || sync
    if [ $deps_result = 0 ] && [ -d /run/systemd/system ]; then
        for deps_service in mosquitto postgresql prometheus; do
            case " $deps_missing " in
                *" $deps_service "*) # it was installed with ours: it must not start at the next boot either
                    deps_root systemctl disable "$deps_service" >/dev/null 2>&1 || true ;;
            esac
        done
    fi
    exit $deps_result
)

# deps_next and deps_next_mb, if set, add the caller's next step to the first line.
deps_install() { # PACKAGE...
    deps_find_missing "$@"
    [ -n "$deps_missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "This is not Debian: it has no apt-get. Install what is in these packages of Debian 12:$deps_missing" >&2
        return 1
    fi
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        echo "Packages are missing, and there is no sudo. As root: apt install --no-install-recommends$deps_missing" >&2
        return 1
    fi
    deps_log=$(mktemp)
    deps_listed=yes # a bare Debian has no lists of packages yet
    deps_plan || { deps_listed=; deps_update; deps_plan; } || { deps_fail_install; return; }
    deps_mb=$((deps_mb + ${deps_next_mb:-0}))
    echo "Installs $deps_count packages, ${deps_next:+$deps_next, }needs $deps_mb MB."
    deps_next=
    deps_check_room "$deps_mb" / || return
    [ -z "$deps_listed" ] || deps_update
    deps_install_missing || { deps_fail_install; return; }
    rm -f "$deps_log"
}

deps_fail_install() {
    deps_explain "The packages were not installed. By hand, as root: apt install --no-install-recommends$deps_missing"
    rm -f "$deps_log"
    return 1
}

deps_build() { # PRESET TARGET...
    deps_preset=$1
    shift
    mkdir -p "$root/build"
    deps_log=$root/build/$deps_preset.log
    : >"$deps_log"
    if ! cmake -S "$root" --preset "$deps_preset" >"$deps_log" 2>&1; then
        deps_explain "cmake cannot prepare build/$deps_preset. All that it said is in build/$deps_preset.log."
        return 1
    fi
    if ! {
        if NINJA_STATUS='@ninja %f/%t ' cmake --build "$root/build/$deps_preset" --target "$@" 2>&1; then
            echo '@exit 0'
        else
            echo '@exit 1'
        fi
    } | deps_follow "building build/$deps_preset:"; then
        deps_explain "The build failed. All that it said is in build/$deps_preset.log."
        return 1
    fi
}
