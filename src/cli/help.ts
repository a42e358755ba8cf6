/** What --help prints. */

const MAIN = `flowsteer: runs captures through the steering engine of an RDMA NIC, and tells what became of each frame

  flowsteer run SCENARIO [CAPTURE...]     steer frames through the rules of a scenario
  flowsteer parse CAPTURE...              show the headers of frames, or the fields that rules can ask about
  flowsteer check SCENARIO...             say whether a scenario is one, and what it holds
  flowsteer help [run|parse|check]        say more about one of them
  flowsteer --version

A scenario is a JSON document with tables, rules, flows and queues; a capture is a pcap or pcapng file, and - is
standard input.

The smallest scenario that does something, port-80.json:

  {
    "flowsteer": 1,
    "queues": [{ "name": "web" }],
    "tables": [{ "name": "root", "level": 0 }],
    "rules": [{ "name": "http", "table": "root", "match": { "outer.tcp_dport": 80 }, "actions": [{ "queue": "web" }] }]
  }

  flowsteer run port-80.json traffic.pcap

Exit codes: 0; 1 an expectation of the scenario failed; 2 an input was refused, and standard error says why.
`;

const RUN = `flowsteer run SCENARIO [CAPTURE...]: steers frames through the rules of a scenario

Frames come from the captures, in order, or from the scenario itself where no capture is named. The report tells where
they and their copies went, what was rewritten, how often each rule and flow was hit, and what registers hold and
counters say. Captures may be of any size.

  --json         one line of JSON a frame instead of the report:
                 {"frame":1,"len":60,"verdict":"deliver","reason":null,"to":["qp:web"],"tag":5,"rules":["http"],
                  "registers":{},"copies":[],"toTags":[5],"copyTags":[],"toFrames":[null],"copyFrames":[],
                  "beyond":{}}
                 where a destination got other bytes than came in, toFrames has them
  --format csv|ndjson|parquet
                 a row a frame instead of the report: frame, time (nanoseconds since 1970), port, length, wire_length,
                 link_type, verdict, reason, tag, rules, to, copies; lists are arrays, in CSV joined with ;
  --output FILE  where --format writes, instead of standard output
  --out FOLDER   writes a capture for each destination: qp-web.pcapng, port-1.pcapng, drop.pcapng, miss.pcapng; what was
                 rewritten is there as it arrived
  --port N       the port that frames come in on (1, or what the frames of the scenario say); those that the scenario
                 sends leave by the port of their queue
  --limit N      stops after N frames
  --workers N    spreads frames over N cores; the report is the same. Frames that can come to something that remembers
                 (meters, connections, ...) are steered by one, and a note says so

Frames are numbered from 1 over all captures. Frames whose link type has no parser are counted and passed over. A signal
(Ctrl-C) ends the reading: what was read is reported as partial, and files are whole; a second one ends it at once.

  flowsteer run rules.json traffic.pcap
  tcpdump -w - | flowsteer run rules.json -
  flowsteer run rules.json a.pcap b.pcapng --json | jq 'select(.verdict != "deliver")'
  flowsteer run rules.json traffic.pcap --format csv --output traffic.csv
  flowsteer run rules.json traffic.pcap --out sorted && flowsteer parse sorted/miss.pcapng

Exit codes: 0; 1 an expectation of the scenario failed; 2 an input was refused; 130, 143 interrupted.
`;

const PARSE = `flowsteer parse CAPTURE...: shows the headers of every frame

A line for each header: where it begins, its name, and what people look for first. Headers of the packet inside a tunnel
are indented. A checksum that is wrong is told; one that cannot be verified is not. Where parsing stopped before the end
of the headers, the last line tells where and why.

  --detail          every field of every header, with its offset
  --hex             the bytes of every header
  --fields          what rules can ask about, by the names that rules use, instead; beside the headers with --detail or
                    --hex. Only what is present is shown: a rule matches a field only where its header is there
  --json            one line of JSON a frame: {"frame":1,"len":60,"fields":{"outer.ip_version":4, ...},"stopped":null}
  --scenario FILE   parses as the device of this scenario does: with its samples and its Geneve option
  --limit N         stops after N frames

  flowsteer parse traffic.pcap --limit 1
  flowsteer parse traffic.pcap --detail --hex
  flowsteer parse traffic.pcap --fields --scenario rules.json
  flowsteer parse traffic.pcap --json | jq -r '.fields["outer.tcp_dport"]' | sort -n | uniq -c

Exit codes: 0; 2 an input was refused.
`;

const CHECK = `flowsteer check SCENARIO...: says whether a scenario is one, and what it holds

Nothing is run. A refusal names the place in the document, what is wrong and how to mend it:

  flowsteer: rules.json: rules[3].match.outer.tcp_dport = "80-": not a range that fits the field
    write it as 80, "0x50", "0x2/0x3f" or "1024-65535"

The JSON Schema is in the package, schema/scenario-1.schema.json: name it as "$schema" and editors complete the keys.

Exit codes: 0; 2 a scenario was refused.
`;

/** Help by command; "" is that of the whole. */
export const HELP: Readonly<Record<string, string>> = { "": MAIN, run: RUN, parse: PARSE, check: CHECK };
