/** The texts of --help. */
import { EXTCAP, FARM, SERVE } from "./helpMachines.js";
import { EXPORT, IMPORT, RECORD } from "./helpRules.js";

const MAIN = `flowsteer: steers captured frames as an RDMA NIC does, and shows the outcome of each

  flowsteer run SCENARIO [CAPTURE...]     steer frames through the rules of a scenario
  flowsteer trace SCENARIO [CAPTURE]      show the way of one frame through the rules
  flowsteer why SCENARIO [CAPTURE]        say why a frame did not come to a rule, or why frames were lost
  flowsteer cover SCENARIO                show for each rule a frame that hits it, or why there is none
  flowsteer diff OLD NEW [CAPTURE]        show which frames two scenarios treat differently
  flowsteer import FILE...                turn rules of devices and other programs into a scenario
  flowsteer record [FOLDER]               write the library that records the steering calls of a program
  flowsteer export SCENARIO               write a scenario as rules of another program, or as a graph
  flowsteer parse CAPTURE...              show the headers of frames, or the fields that rules match
  flowsteer check SCENARIO...             find faults in scenarios, and show what they contain
  flowsteer fields [NAME]                 list the fields that rules match and header changes write
  flowsteer play [SCENARIO] [CAPTURE]     open the playground, a page that answers as you type
  flowsteer serve SCENARIO                be the device that real machines plug into
  flowsteer extcap                        be interfaces of Wireshark
  flowsteer farm run|worker               steer captures on many machines
  flowsteer help [COMMAND]                show more about a command
  flowsteer --version

A scenario is a JSON document with tables, rules, flows and queues. A capture is a pcap or pcapng file, also packed by
gzip or zstd (zstd: Node.js 22.15). Either can be -, standard input.

Every command takes --color auto|always|never (auto: on terminals, unless NO_COLOR is set) and --quiet (no notes, no
progress, no report for people).

The smallest useful scenario, port-80.json:

  {
    "flowsteer": 1,
    "queues": [{ "name": "web" }],
    "tables": [{ "name": "root", "level": 0 }],
    "rules": [{ "name": "http", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "queue": "web" }] }]
  }

  flowsteer run port-80.json traffic.pcap

Exit codes: 0; 1 an expectation of the scenario failed; 2 an input was refused, standard error says why; 3 an output
cannot be written; 4 a capture ends in the middle of a record; 5 pieces of a farm failed; 130, 143 interrupted.
`;

const RUN = `flowsteer run SCENARIO [CAPTURE...]: steers frames through the rules of a scenario

Frames come from the captures, in order. Without a capture they come from the scenario. The report shows where frames
and their copies went, what was rewritten, how often each rule and flow was hit, and the values of registers and
counters. Captures can have any size.

  --json         a line of JSON for each frame instead of the report:
                 {"frame":1,"len":60,"verdict":"deliver","reason":null,"to":["qp:web"],"tag":5,"rules":["http"],
                  "registers":{},"copies":[],"toTags":[5],"copyTags":[],"toFrames":[null],"copyFrames":[],
                  "beyond":{}}
                 toFrames has the bytes where a destination received changed ones
  --format csv|ndjson|parquet
                 a row for each frame instead of the report: frame, time (nanoseconds since 1970), port, length,
                 wire_length, link_type, verdict, reason, tag, rules, to, copies; lists are arrays, in CSV joined with ;
  --output FILE  the file for --format, instead of standard output
  --out FOLDER   writes a capture for each destination: qp-web.pcapng, port-1.pcapng, drop.pcapng, miss.pcapng;
                 rewritten frames are in it as they arrived
  --annotate FILE
                 writes the captures as one pcapng file with a comment at each frame: verdict, destinations, rules, and
                 why it was dropped or missed; Wireshark shows and filters it (frame.comment contains "meter");
                 - is standard output, in place of the report
  --port N       the port at which frames arrive (1, or the port in the scenario's frames); frames that the scenario
                 sends leave by the port of their queue
  --limit N      stops after N frames
  --frame N      steers only frame N
  --quiet        no report, notes and progress; failed expectations and refusals are still told
  --workers N    uses N cores; the report is the same. One core steers all frames where a frame can reach stateful
                 actions (meters, connections, ...), and a note says so

Frames are numbered from 1 over all captures. Frames whose link type has no parser are counted and skipped. A signal
(Ctrl-C) ends the reading: frames read by then are reported as partial, and files are complete; a second signal ends
the command at once. A capture that ends in the middle of a record is run up to there; the report, the last line of
--json and the exit code say so.

  flowsteer run rules.json traffic.pcap
  flowsteer run rules.json traffic.pcap.gz --frame 17 --json
  tcpdump -w - | flowsteer run rules.json -
  flowsteer run rules.json a.pcap b.pcapng --json | jq 'select(.verdict != "deliver")'
  flowsteer run rules.json traffic.pcap --format csv --output traffic.csv
  flowsteer run rules.json traffic.pcap --out sorted && flowsteer parse sorted/miss.pcapng
  flowsteer run rules.json traffic.pcap --annotate - | wireshark -k -i -

Exit codes: 0; 1 an expectation of the scenario failed; 2 an input was refused; 3 an output cannot be written; 4 a
capture ends in the middle of a record; 130, 143 interrupted.
`;

const TRACE = `flowsteer trace SCENARIO [CAPTURE] --frame N: shows the way of one frame through the rules of a scenario

Tables in their order, the rule that the frame hit in each, what its actions changed, and where the frame ended. Where
no rule matched, the nearest rules, with the fields that differ. The frames before it are run first, so that meters,
connections and counters are as they were when it came. The frame itself changes nothing.

  --frame N         the frame: of the captures, or without a capture of the scenario
  --packet PACKET   the frame in one line, such as "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443" (docs/packet.md)
  --hex BYTES       the frame as hexadecimal digits, from the Ethernet header on
  --port N          the port at which it arrives (1, or the port of the scenario's frame)
  --from QUEUE      the queue that sends it
  --json            a line of JSON: {"kind":"trace","frame":14,"trace":{...},"near":[...]}
  --quiet           no notes and progress

  flowsteer trace rules.json traffic.pcap --frame 17
  flowsteer trace rules.json --packet "ipv4 10.0.0.1 > 10.0.0.7 / udp > 4789 / vxlan vni 5001 / tcp > 80"
  flowsteer trace rules.json --frame 3 --json | jq '.trace.steps[] | select(.kind == "lookup")'

The package has the JSON Schema of the lines: schema/explain-1.schema.json.

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record.
`;

const WHY = `flowsteer why SCENARIO [CAPTURE] --frame N [TARGET]: says why a frame did not come to a target

The shortest chain of reasons: the table that was never reached and the rules that lead to it, the earlier rule that
took the frame, the fields that differ with the differing bits marked, the header that is absent and why. Then the
smallest changes of the frame and of the rules with which the frame would come to the target. Each was tried.

  --rule NAME       why the frame did not hit this rule
  --flow NAME       why it did not match this flow
  --table NAME      why it did not come to this table
  --queue NAME      why this queue did not get it
  --vport N         why this function did not get it: 0 the PF, 1 the first VF
  --twice           why it was not delivered a second time
                    without a target: why it ended as it did

  --frame N         the frame: of the captures, or without a capture of the scenario
  --packet PACKET   the frame in one line, such as "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443" (docs/packet.md)
  --hex BYTES       the frame as hexadecimal digits, from the Ethernet header on
  --port N          the port at which it arrives (1, or the port of the scenario's frame)
  --from QUEUE      the queue that sends it
  --all             every frame that missed or was dropped, in groups with the same explanation, the largest first
  --limit N         with --all: stops after N frames
  --json            a line of JSON: {"kind":"why","frame":14,"explanation":{...}}; with --all a line for each group, and
                    at last {"kind":"sum","frames":1000,"lost":12,"groups":2,"partial":null}
  --quiet           no notes and progress

With --all, rules with state (meters, connections, ...) and queues with receive buffers are explained in a second
reading: their captures are files, not standard input.

  flowsteer why rules.json traffic.pcap --frame 17 --rule http
  flowsteer why rules.json --packet "ipv4 10.0.0.1 > 10.0.0.7 / tcp > 443" --queue web
  flowsteer why rules.json traffic.pcap --all

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record; 130,
143 interrupted.
`;

const COVER = `flowsteer cover SCENARIO: shows for each rule a frame that hits it, or why there is none

Tables in their order, and in each the rules in the order in which they are searched:

  live       a frame that hits the rule, the port or the queue that it comes in on, and how many frames come before it.
             The frame was run through the rules
  dead       no frame hits the rule, and the reason: the rules that take its frames, or what excludes every frame
  unknown    neither was found; what was tried

  --out FOLDER   writes the witnesses: cover.json, a scenario that expects each of them to hit its rule (flowsteer run),
                 and cover.pcapng, the same frames with a comment at each. Witnesses that the state of others keeps from
                 their rules are in cover-2.json, and so on
  --fail-on dead|unknown
                 the exit code is 1 if a rule is dead; with unknown, also if a rule is unknown. Without it, it is 0
  --json         a line of JSON for each table, each rule, and at last the sums:
                 {"kind":"rule","rule":{...,"places":["/rules/3"]},"table":{...},"answer":{"status":"live","witness":
                  {"bytes":"0200...","from":{"kind":"wire","port":1},"before":[]}}}
  --quiet        no report, notes and progress

The frames and expectations of the scenario are not used: witnesses come to a new device. A signal (Ctrl-C) ends the
search: rules whose turn had not come are left out; a second signal ends the command at once.

  flowsteer cover rules.json
  flowsteer cover rules.json --fail-on dead --quiet
  flowsteer cover rules.json --out witnesses && flowsteer run witnesses/cover.json
  flowsteer cover rules.json --json | jq 'select(.answer.status == "dead")'

The package has the JSON Schema of the lines: schema/cover-1.schema.json.

Exit codes: 0; 1 with --fail-on; 2 an input was refused; 3 an output cannot be written; 130, 143 interrupted.
`;

const DIFF = `flowsteer diff OLD NEW [CAPTURE...]: shows which frames two scenarios treat differently

Objects are matched by their names. Differences are shown in groups, by how: verdict, destination, bytes, tag, counters,
state. Each group has a frame that was run through both scenarios. That all frames are treated alike is said only where
it is proved.

With captures, their frames are run through both scenarios, in order, and those that change are shown in groups.

  --ignore LIST  what does not count as behaviour: counters, tags, or both, joined with a comma
  --rules        the names of the rules that a frame hits count as behaviour
  --port N       the port at which the frames of captures arrive (1)
  --limit N      stops after N frames of the captures
  --json         a line of JSON for each change and for each group, and one for the result
  --quiet        no notes and progress

  flowsteer diff old.json new.json
  flowsteer diff old.json new.json --ignore counters,tags && echo same behaviour
  flowsteer diff old.json new.json traffic.pcap

The package has the JSON Schema of the lines: schema/diff-1.schema.json.

Exit codes: 0 no frame is treated differently; 1 some frame is, or it is not proved that none is; 2 an input was
refused; 3 an output cannot be written; 4 a capture ends in the middle of a record; 130, 143 interrupted.
`;

const PARSE = `flowsteer parse CAPTURE...: shows the headers of every frame

A line for each header: its offset, its name, and its most important fields. Headers of the packet inside a tunnel are
indented. A wrong checksum is marked; one that cannot be verified is not. Where parsing stopped before the end of the
headers, the last line says where and why; an IP length beyond the end of the frame on the wire has a line of its own.

  --detail          every field of every header, with its offset
  --hex             the bytes of every header
  --fields          match fields, by the names that rules use, instead of headers; with --detail or --hex, after the
                    headers. Only fields that are present are shown: a rule matches a field only where its header is
                    present
  --json            a line of JSON for each frame: {"frame":1,"time":1700000000000000000,"len":60,"captured":60,
                    "link_type":1,"fields":{"outer.ip_version":4, ...},"stopped":null,"beyond":[]}
                    time is in nanoseconds since 1970, null where the capture has none; beyond lists IP lengths
                    beyond the end of the frame
  --scenario FILE   parses as the device of this scenario does: with its samples and its Geneve option
  --limit N         stops after N frames
  --frame N         only frame N
  --quiet           no notes and progress

  flowsteer parse traffic.pcap --limit 1
  flowsteer parse traffic.pcap.gz --frame 17 --detail
  flowsteer parse traffic.pcap --detail --hex
  flowsteer parse traffic.pcap --fields --scenario rules.json
  flowsteer parse traffic.pcap --json | jq -r '.fields["outer.tcp_dport"]' | sort -n | uniq -c

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record.
`;

const CHECK = `flowsteer check SCENARIO...: finds faults in scenarios, and shows what they contain

No frame is steered. Every error of every file is told, with its place in the document, what is wrong and how to fix it:

  flowsteer: rules.json: rules[3].match.outer.tcp_dport = "80-": not a range that fits the field
    write it as 80, "0x50", "0x2/0x3f" or "1024-65535"

Keys and types of a file are checked first, then names, then the rest. A step is left out where the one before found
errors, and an object that needs a refused one is not checked. Text that is not JSON has one error.

A file without errors is searched for rules that do not do what they seem to. docs/check.md lists what can be found:

  rules.json:14:5: warning unreached-table tables[2]
    No rule leads to table "services", so no frame comes there.

  --json            a line of JSON for each finding, and one for each file: {"kind":"finding","file":"rules.json",
                    "place":{"path":"tables[2]","pointer":"/tables/2","line":14,"column":5},"id":"unreached-table",...}
  --fix             makes the repairs that are sure, and writes the files; a file with errors stays as it is
  --fail-on SEVERITY
                    the least severity that makes the exit code 1: error, warning (the default), note, or never
  --quiet           findings only

The package has two JSON Schemas: schema/scenario-1.schema.json (name it as "$schema", and editors complete the keys and
the names of fields), and schema/check-1.schema.json, that of the lines of --json.

  flowsteer check rules.json
  flowsteer check rules/*.json --fail-on note
  flowsteer check rules.json --json | jq -r 'select(.kind == "finding") | .id'
  flowsteer check rules.json --fix

Exit codes: 0; 1 a finding of the severity of --fail-on or worse; 2 a scenario was refused (0 with --fail-on never);
3 an output cannot be written.
`;

const FIELDS = `flowsteer fields [NAME]: lists the fields that rules match and that header changes write

For each field: its bits, the header that has it, and how its values are written. A rule matches a field, and a change
writes it, only where this header is present. With NAME, everything about one field.

  flowsteer fields
  flowsteer fields outer.tcp_dport
  flowsteer fields | grep -i vlan

Exit codes: 0; 2 there is no such field.
`;

const PLAY = `flowsteer play [SCENARIO] [CAPTURE]: opens the playground in a browser, with these files in it

The page edits rules, and shows at once where each frame goes and why. It runs on this machine: the command serves it
on 127.0.0.1, and prints its address. A reload of the page reads the files again. The page does not write to them: it
keeps what you edit in the browser, and offers it as a download.

  --port N       the port of the address; 0 is any free one (4791, or where that is taken, any free one)
  --open         opens the address in the browser too
  --quiet        prints the address only

  flowsteer play
  flowsteer play rules.json traffic.pcap --open

Ctrl-C ends it.

Exit codes: 0; 2 an input was refused; 3 an output cannot be written.
`;

/** Help by command; "" is the help of the whole. */
export const HELP: Readonly<Record<string, string>> = {
  "": MAIN,
  run: RUN,
  trace: TRACE,
  why: WHY,
  cover: COVER,
  diff: DIFF,
  import: IMPORT,
  export: EXPORT,
  record: RECORD,
  parse: PARSE,
  check: CHECK,
  fields: FIELDS,
  play: PLAY,
  serve: SERVE,
  extcap: EXTCAP,
  farm: FARM,
};
