/** The texts of --help. */
import { EXEC } from "./helpPrograms.js";
import { EXTCAP, FARM, SERVE } from "./helpMachines.js";
import { EXPORT, IMPORT, RECORD } from "./helpRules.js";

/** Options of commands that take rules. */
const IMPORTED = `  --profile P    the adapter that the device models, in place of the scenario's (docs/profiles.md)
  --map NAME=WHAT,..., --set NAME=VALUE,..., --driver NAME, --lenient
                 for rules of other programs: see flowsteer import --help`;

const MAIN = `flowsteer: steers captured frames as an RDMA NIC does, and shows the outcome of each

  flowsteer run RULES [CAPTURE...]        steer frames through rules
  flowsteer trace RULES [CAPTURE]         show the path of one frame through the rules
  flowsteer why RULES [CAPTURE]           explain why a frame never reached a rule, or why frames were lost
  flowsteer cover RULES                   show a frame that hits each rule, or why none can
  flowsteer diff OLD NEW [CAPTURE]        show which frames two sets of rules treat differently
  flowsteer import FILE...                convert rules of devices and other programs to a scenario
  flowsteer exec -- PROGRAM [ARGUMENTS]   run an unmodified libibverbs program on a device of the model
  flowsteer record [FOLDER]               write libraries that record the steering calls of a program
  flowsteer export SCENARIO               convert a scenario to rules of another program, or to a graph
  flowsteer parse CAPTURE...              show the headers of frames, or the fields that rules match
  flowsteer check RULES...                find errors in rules, and list their contents
  flowsteer fields [NAME]                 list the fields that rules match and actions write
  flowsteer play [RULES] [CAPTURE]        open the playground, a page that updates as you type
  flowsteer serve RULES                   act as a device for real machines
  flowsteer extcap                        provide capture interfaces to Wireshark
  flowsteer farm run|worker               steer captures on many machines
  flowsteer help [COMMAND]                show the help of a command
  flowsteer --version

RULES is a scenario, or a file with rules of another program as they are: commands of testpmd, filters of tc, flows of
Open vSwitch, rules of ethtool and nft, ip xfrm, steering dumps, recordings (docs/import). They are called by their
places, such as flows.txt:3. Several files of them can be named, with captures after them.

A scenario is a JSON document with tables, rules, flows and queues. A capture is a pcap or pcapng file, optionally
compressed with gzip or zstd (zstd needs Node.js 22.15). Either can be -, standard input.

Every command takes --color auto|always|never (auto: on terminals, unless NO_COLOR is set) and --quiet (no notes, no
progress, no text report).

The smallest useful scenario, port-80.json:

  {
    "flowsteer": 1,
    "queues": [{ "name": "web" }],
    "tables": [{ "name": "root", "level": 0 }],
    "rules": [{ "name": "http", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "queue": "web" }] }]
  }

  flowsteer run port-80.json traffic.pcap

Exit codes: 0; 1 an expectation of the scenario failed; 2 an input was refused, see standard error; 3 an output
cannot be written; 4 a capture ends in the middle of a record; 5 pieces of a farm run failed; 130, 143 interrupted.
`;

const RUN = `flowsteer run RULES [CAPTURE...]: steers frames through rules

Frames are read from the captures in order, or from the scenario if there is no capture. The report shows where frames
and their copies went, what was rewritten, how often each rule and flow was hit, and the values of registers and
counters. Captures can have any size.

${IMPORTED}
  --json         print one line of JSON per frame instead of the report:
                 {"frame":1,"len":60,"verdict":"deliver","reason":null,"to":["qp:web"],"tag":5,"rules":["http"],
                  "registers":{},"copies":[],"toTags":[5],"copyTags":[],"toFrames":[null],"copyFrames":[],
                  "beyond":{}}
                 toFrames has the bytes of each rewritten frame
  --format csv|ndjson|parquet
                 print one row per frame instead of the report: frame, time (nanoseconds since 1970), port, length,
                 wire_length, link_type, verdict, reason, tag, rules, to, copies; lists are arrays, joined with ; in CSV
  --output FILE  write the rows of --format to FILE instead of standard output
  --out FOLDER   write a capture for each destination: qp-web.pcapng, port-1.pcapng, drop.pcapng, miss.pcapng;
                 frames are written as they arrived, before rewriting
  --annotate FILE
                 write the captures as one pcapng file with a comment on each frame: verdict, destinations, rules, and
                 the reason of a drop or miss; Wireshark can filter by it (frame.comment contains "meter");
                 - writes to standard output instead of the report
  --port N       the port at which frames arrive (default: the port in the scenario's frames, or 1); frames that the
                 scenario sends leave through the port of their queue
  --limit N      stop after N frames
  --frame N      steer only frame N
  --quiet        no report, notes or progress; failed expectations and refusals are still printed
  --workers N    use N cores; the report is the same. If a frame can reach stateful actions (meters, connections, ...),
                 one core steers all frames, and a note is printed

Frames are numbered from 1 over all captures. Frames whose link type has no parser are counted and skipped. A signal
(Ctrl-C) stops reading: the frames read so far are reported as partial, and output files are complete; a second signal
ends the command at once. A capture that ends in the middle of a record is steered up to that point; the report, the
last line of --json and the exit code show this.

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

const TRACE = `flowsteer trace RULES [CAPTURE] --frame N: shows the path of one frame through rules

Prints the tables in order, the rule that the frame hit in each, what its actions changed, and where the frame ended.
If no rule of a table matched, prints the nearest rules and the fields that differ. Earlier frames are steered first, so
that meters, connections and counters are as they were when the frame arrived. The frame itself changes no state.

  --frame N         the frame of the captures, or of the scenario if there is no capture
  --packet PACKET   the frame as one line, such as "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443" (docs/packet.md)
                    or as flowsteer cover writes it, with ", at port 1" or ", sent by qp:web" after it
  --hex BYTES       the frame as hexadecimal digits from its Ethernet header on, or as a dump of tcpdump or Wireshark
  --port N          the port at which it arrives (default: the port of the scenario's frame, or 1)
  --from QUEUE      the queue that sends it
  --metadata N      with --from: register A of the frame (default: 0)
${IMPORTED}
  --json            print a line of JSON: {"kind":"trace","frame":14,"trace":{...},"near":[...]}
  --quiet           no notes or progress

  flowsteer trace rules.json traffic.pcap --frame 17
  flowsteer trace rules.json --packet "ipv4 10.0.0.1 > 10.0.0.7 / udp > 4789 / vxlan vni 5001 / tcp > 80"
  flowsteer trace rules.json --frame 3 --json | jq '.trace.steps[] | select(.kind == "lookup")'

The JSON Schema of the lines is in the package: schema/explain-1.schema.json.

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record.
`;

const WHY = `flowsteer why RULES [CAPTURE] --frame N [TARGET]: explains why a frame never reached a target

Prints the shortest chain of reasons: the table that was never reached and the rules that lead to it, the earlier rule
that took the frame, the fields and bits that differ, the header that is missing and why. Then it suggests the smallest
changes to the frame or to the rules that would let the frame reach the target. Each change has been tested.

  --rule NAME       why the frame did not hit this rule
  --flow NAME       why it did not match this flow
  --table NAME      why it did not reach this table
  --queue NAME      why it did not reach this queue
  --vport N         why it did not reach this function: 0 is the PF, 1 the first VF
  --tag N           why no completion reported this tag
  --counter NAME    why this counter did not count it: NAME, or NAME[3] for one of a bulk
  --twice           why it was not delivered a second time
                    without a target: why it ended as it did

  --frame N         the frame of the captures, or of the scenario if there is no capture
  --packet PACKET   the frame as one line, such as "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443" (docs/packet.md)
                    or as flowsteer cover writes it, with ", at port 1" or ", sent by qp:web" after it
  --hex BYTES       the frame as hexadecimal digits from its Ethernet header on, or as a dump of tcpdump or Wireshark
  --port N          the port at which it arrives (default: the port of the scenario's frame, or 1)
  --from QUEUE      the queue that sends it
  --metadata N      with --from: register A of the frame (default: 0)
  --all             explain all frames that missed, were dropped, or were taken by no rule and received by the driver,
                    grouped by explanation, largest group first
  --limit N         with --all: stop after N frames
${IMPORTED}
  --json            print a line of JSON: {"kind":"why","frame":14,"explanation":{...}}; with --all one line per group
                    and per rule whose frames RSS spread unevenly ("kind":"spread"), then
                    {"kind":"sum","frames":1000,"lost":12,"unclaimed":0,"lostCopies":{},"groups":2,"partial":null}
  --quiet           no notes or progress

With --all, rules with state (meters, connections, ...) and queues with receive buffers need a second pass over the
captures, so the captures must be files, not standard input.

  flowsteer why rules.json traffic.pcap --frame 17 --rule http
  flowsteer why rules.json --packet "ipv4 10.0.0.1 > 10.0.0.7 / tcp > 443" --queue web
  flowsteer why rules.json traffic.pcap --all

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record; 130,
143 interrupted.
`;

const COVER = `flowsteer cover RULES: shows a frame that hits each rule, or why none can

Prints the tables in order, and the rules of each in the order in which they are searched:

  live       a frame that hits the rule, the port or queue that it enters by, and how many frames precede it. The frame
             was run through the rules
  dead       no frame can hit the rule, and why: the rules that take its frames, or the condition that no frame meets
  unknown    no answer was found; lists what was tried

  --out FOLDER   write the witnesses: cover.json, a scenario that expects each of them to hit its rule (flowsteer run),
                 and cover.pcapng, the same frames with comments. Witnesses that cannot share a device because of its
                 state go to cover-2.json, and so on
  --fail-on dead|unknown
                 exit with 1 if a rule is dead; with unknown, also if a rule is unknown. The default is to exit with 0
${IMPORTED}
  --json         print a line of JSON for each table and rule, then the totals:
                 {"kind":"rule","rule":{...,"places":["/rules/3"]},"table":{...},"answer":{"status":"live","witness":
                  {"bytes":"0200...","from":{"kind":"wire","port":1},"before":[]}}}
  --quiet        no report, notes or progress

The frames and expectations of the scenario are not used: witnesses start with a new device. A signal (Ctrl-C) ends the
search and leaves out the remaining rules; a second signal ends the command at once.

  flowsteer cover rules.json
  flowsteer cover rules.json --fail-on dead --quiet
  flowsteer cover rules.json --out witnesses && flowsteer run witnesses/cover.json
  flowsteer cover rules.json --json | jq 'select(.answer.status == "dead")'

The JSON Schema of the lines is in the package: schema/cover-1.schema.json.

Exit codes: 0; 1 with --fail-on; 2 an input was refused; 3 an output cannot be written; 130, 143 interrupted.
`;

const DIFF = `flowsteer diff OLD NEW [CAPTURE...]: shows which frames two scenarios treat differently

Objects are matched by name. Differences are grouped by kind: verdict, destination, bytes, tag, counters, state. Each
group has a frame that was run through both scenarios. The scenarios are reported as equivalent only if this is proved.

With captures, their frames are run through both scenarios in order, and those treated differently are grouped.

  --ignore LIST  ignore differences in counters, tags, or why a frame is lost (counters,tags,reason)
  --rules        also compare the names of the rules that a frame hits
  --port N       the port at which the frames of captures arrive (default: 1)
  --limit N      stop after N frames of the captures
${IMPORTED}
  --summary      print one line: equal, different or undecided, and the first difference or undecided change
  --json         print a line of JSON for each change and group, then one for the result
  --quiet        no notes or progress

  flowsteer diff old.json new.json
  flowsteer diff old.json new.json --ignore counters,tags --summary && echo same behaviour
  flowsteer diff old.json new.json traffic.pcap

The JSON Schema of the lines is in the package: schema/diff-1.schema.json.

Exit codes: 0 no frame is treated differently; 1 some frame is; 2 an input was refused; 3 undecided: no difference was
found, and equivalence could not be proved (or the output cannot be written); 4 a capture ends in the middle of a record; 130, 143 interrupted.
`;

const PARSE = `flowsteer parse CAPTURE...: shows the headers of every frame

Prints one line per header: its offset, its name and its main fields. Headers inside a tunnel are indented. Wrong
checksums are marked; those that cannot be verified are not. If parsing stops before the end of the headers, the last
line shows where and why; an IP length beyond the end of the frame on the wire has its own line.

  --detail          print every field of every header, with its offset
  --hex             print the bytes of every header
  --fields          print match fields, by the names that rules use, instead of headers; with --detail or --hex, after
                    the headers. Only fields that are present are shown: a rule matches a field only if its header
                    is present
  --json            print a line of JSON per frame: {"frame":1,"time":1700000000000000000,"len":60,"captured":60,
                    "link_type":1,"fields":{"outer.ip_version":4, ...},"stopped":null,"beyond":[]}
                    time is in nanoseconds since 1970, or null if the capture has none; beyond lists IP lengths
                    beyond the end of the frame
  --scenario FILE   parse as the device of this scenario does, with its samples and its Geneve option
  --limit N         stop after N frames
  --frame N         parse only frame N
  --quiet           no notes or progress

  flowsteer parse traffic.pcap --limit 1
  flowsteer parse traffic.pcap.gz --frame 17 --detail
  flowsteer parse traffic.pcap --detail --hex
  flowsteer parse traffic.pcap --fields --scenario rules.json
  flowsteer parse traffic.pcap --json | jq -r '.fields["outer.tcp_dport"]' | sort -n | uniq -c

Exit codes: 0; 2 an input was refused; 3 an output cannot be written; 4 a capture ends in the middle of a record.
`;

const CHECK = `flowsteer check RULES...: finds errors in rules, and lists their contents

No frame is steered. Every error of every file is reported, with its place in the document and how to fix it:

  flowsteer: rules.json: rules[3].match.outer.tcp_dport = "80-": not a range that fits the field
    write it as 80, "0x50", "0x2/0x3f" or "1024-65535"

Keys and types of a file are checked first, then names, then the rest. A step is skipped if the previous one found
errors, and an object that needs a refused one is not checked. For text that is not JSON, one error is reported.

In a file without errors, check looks for rules that do not do what they seem to. docs/check.md lists all findings:

  rules.json:14:5: warning unreached-table tables[2]
    No rule leads to table "services", so no frame comes there.

${IMPORTED}
  --json            print a line of JSON for each finding and each file: {"kind":"finding","file":"rules.json",
                    "place":{"path":"tables[2]","pointer":"/tables/2","line":14,"column":5},"id":"unreached-table",...}
  --fix             apply the safe repairs and write the files; scenarios with errors are not changed, and in rules of
                    other programs misspelled words are corrected
  --fail-on SEVERITY
                    exit with 1 on findings of this severity or worse: error, warning (the default), note, or never
  --quiet           print only findings

The package has two JSON Schemas: schema/scenario-1.schema.json (set it as "$schema", and editors complete keys and
field names), and schema/check-1.schema.json for the lines of --json.

  flowsteer check rules.json
  flowsteer check rules/*.json --fail-on note
  flowsteer check rules.json --json | jq -r 'select(.kind == "finding") | .id'
  flowsteer check rules.json --fix

Exit codes: 0; 1 a finding of the severity of --fail-on or worse; 2 a scenario was refused (0 with --fail-on never);
3 an output cannot be written.
`;

const FIELDS = `flowsteer fields [NAME]: lists the fields that rules match and that actions write

For each field: its width in bits, its header, and the format of its values. A rule matches a field, and an action
writes it, only if its header is present. With NAME, all details of one field.

  flowsteer fields
  flowsteer fields outer.tcp_dport
  flowsteer fields | grep -i vlan

Exit codes: 0; 2 unknown field.
`;

const PLAY = `flowsteer play [RULES] [CAPTURE]: opens the playground in a browser, with these files loaded

Edit rules in the page and see at once where each frame goes and why. The command serves the page on 127.0.0.1 and
prints its address. Reloading the page reads the files again, and shows your edits if they have not changed. The page
never writes to them: it keeps your edits in the browser, and offers them as a download.

  --port N       the port to listen on; 0 selects any free port (default: 4791, or any free port if that is in use)
  --open         also open the address in the browser
  --map NAME=WHAT,..., --driver NAME, --profile P
                 how rules of another program are read, as for flowsteer import; the page can change it
  --quiet        print only the address

  flowsteer play
  flowsteer play rules.json traffic.pcap --open
  flowsteer play rules.testpmd traffic.pcap

Press Ctrl-C to stop.

Exit codes: 0; 2 an input was refused; 3 an output cannot be written.
`;

/** Help by command; "" is the main help. */
export const HELP: Readonly<Record<string, string>> = {
  "": MAIN,
  run: RUN,
  trace: TRACE,
  why: WHY,
  cover: COVER,
  diff: DIFF,
  import: IMPORT,
  export: EXPORT,
  exec: EXEC,
  record: RECORD,
  parse: PARSE,
  check: CHECK,
  fields: FIELDS,
  play: PLAY,
  serve: SERVE,
  extcap: EXTCAP,
  farm: FARM,
};
