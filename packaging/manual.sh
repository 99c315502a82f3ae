#!/bin/sh
# manual.sh TANDEM DIR: writes the manual pages tandem(1), tandem-COMMAND(1) and tandem-lab(5) to DIR/man1 and DIR/man5,
# from the program's own help pages and its reference of the lab file. SOURCE_DATE_EPOCH dates them.
set -eu
tandem=$1
dir=$2
mkdir -p "$dir/man1" "$dir/man5"
version=$("$tandem" version | sed -n '1s/^tandem //p')
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)
commands=$("$tandem" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')

head_line() { # NAME SECTION TITLE
    printf '.TH %s %s "%s" "Tandem %s" "%s"\n' "$(echo "$1" | tr a-z A-Z)" "$2" "$date" "$version" "$3"
}

# A help page: headings stand at the margin in capitals, all other text is copied unchanged.
help_page() {
    awk '
        /^[A-Z][A-Z ]*$/ { if (text) print ".fi"; print ".SH " $0; text = 0; name = $0 == "NAME"; next }
        name { sub(/^ */, ""); sub(/^tandem /, "tandem-"); gsub(/-/, "\\-"); sub(/ \\- /, " \\- "); if ($0 != "") print; next }
        !text { print ".nf"; text = 1 }
        { gsub(/\\/, "\\e"); gsub(/-/, "\\-"); if (/^[.\047]/) $0 = "\\&" $0; print }
        END { if (text) print ".fi" }'
}

# The reference of the lab file: Markdown with tables of keys.
lab_page() {
    awk -F ' [|] ' '
        function plain(s) {
            gsub(/\\/, "\\e", s); gsub(/`/, "", s); gsub(/&nbsp;/, " ", s)
            while (match(s, /\[[^]]*\]\([^)]*\)/)) {
                words = substr(s, RSTART + 1); sub(/\].*/, "", words)
                s = substr(s, 1, RSTART - 1) words substr(s, RSTART + RLENGTH)
            }
            gsub(/-/, "\\-", s); sub(/^[.\047]/, "\\\\&&", s)
            return s
        }
        /^```/ { code = !code; print code ? ".PP\n.nf" : ".fi"; next }
        code { gsub(/\\/, "\\e"); gsub(/-/, "\\-"); if (/^[.\047]/) $0 = "\\&" $0; print; next }
        /^<!--/ || /^[|] *-/ || /^[|] key / || /^[|]---/ { next }
        /^# / { next }
        /^##+ / { sub(/^#+ /, ""); print ".SH " plain($0); next }
        /^[|] / { sub(/^[|] /, ""); sub(/ [|]$/, ""); print ".TP\n.B " plain($1); print plain($4) " Allowed: " plain($2) "; default: " plain($3) "."; next }
        /^- / { sub(/^- /, ""); print ".IP \\(bu 2\n" plain($0); next }
        /^$/ { print ".PP"; next }
        { sub(/^ +/, ""); print plain($0) }' | cat -s
}

for command in $commands; do
    {
        head_line "tandem-$command" 1 "User Commands"
        "$tandem" "$command" --help </dev/null | help_page
        printf '.SH SEE ALSO\n.BR tandem (1),\n.BR tandem-lab (5)\n'
    } >"$dir/man1/tandem-$command.1"
done
{
    head_line tandem-lab 5 "File Formats"
    printf '.SH NAME\ntandem-lab \\- the lab file: broker, pairs, HTTP, journal, store\n.SH DESCRIPTION\n'
    "$tandem" config --docs | lab_page
    printf '.SH SEE ALSO\n.BR tandem (1),\n.BR tandem-config (1),\n.BR tandem-serve (1)\n'
} | awk '!(/^\.PP$/ && (last == ".PP" || last ~ /^\.SH/)) { print } { last = $0 }' >"$dir/man5/tandem-lab.5"

{
    head_line tandem 1 "User Commands"
    cat <<'END'
.SH NAME
tandem \- keeps a robot and its digital twin in step
.SH SYNOPSIS
.B tandem
.I COMMAND
.RI [ OPTION ]...
.br
.B tandem
.I COMMAND
.B \-\-help
.SH DESCRIPTION
A lab runs a real robot and a simulated one side by side and gives both the
same commands.
Tandem listens over MQTT and says for every command which of the two was late,
by how much, and whether that was the robot, the network or a clock.
It calibrates both robots' travel times with error bars, hands the real robot's
parameters to the simulator, and shows all of it over HTTP.
Any recording runs through the same code offline, with the same results byte
for byte.
.PP
The package starts the daemon,
.BR "tandem serve" ,
as the system service
.IR tandem ,
with the lab file
.IR /etc/tandem/lab.yaml .
It needs an MQTT broker, for example mosquitto on the same machine.
To see Tandem work without any robot:
.B tandem demo
.SH COMMANDS
END
    "$tandem" --help | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/.TP\n.BR tandem-\1 (1)\n\2/p'
    cat <<'END'
.SH FILES
.TP
.I /etc/tandem/lab.yaml
the lab of the system service: broker, pairs, HTTP, journal; see
.BR tandem-lab (5)
.TP
.I /etc/tandem/token
first line: the token that writing requests over HTTP must carry, if
http.token_file in the lab file names it
.TP
.I /var/lib/tandem
journal, store and checkpoint of the system service
.TP
.I /usr/share/tandem
JSON Schemas of the lab file and of the messages, a Grafana dashboard,
Prometheus alerts, a Node\-RED flow
.TP
.I /usr/share/doc/tandem
documentation; example labs, missions, experiments, recordings and programs
.SH ENVIRONMENT
.TP
.BR NOTIFY_SOCKET ", " WATCHDOG_USEC
set by systemd for a service of Type=notify: where
.B tandem serve
says that it is ready, reloads, stops and is alive, and how often it has to
.SH EXIT STATUS
0 fine, 1 the work failed, 2 wrong usage or configuration
.SH EXAMPLES
.nf
tandem demo \-\-for 30
tandem serve \-c /etc/tandem/lab.yaml \-\-check
systemctl reload tandem
curl \-s 'http://127.0.0.1:8420/api/v1/pairs/r1/entries?limit=5'
tandem replay \-c /etc/tandem/lab.yaml /var/lib/tandem/journal
.fi
.SH SEE ALSO
.BR tandem-lab (5),
.BR mosquitto (8),
.BR mosquitto_sub (1),
.BR systemctl (1),
.BR journalctl (1)
END
} >"$dir/man1/tandem.1"
