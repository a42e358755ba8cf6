/** The texts of flowsteer farm and serve --help. */
export const FARM = `flowsteer farm: steers captures on many machines, through a queue in Redis

  flowsteer farm run SCENARIO CAPTURE...  splits captures into pieces, queues them, and reports as flowsteer run does
  flowsteer farm worker                   takes pieces from the queue; start one on each machine

Both need two more packages: npm install bullmq@6.7 ioredis@6. A capture is a file that every machine has under the same
path, or a URL whose server supports byte ranges. A compressed capture is one piece.

  --redis URL    the Redis or Valkey server: redis://HOST:PORT, rediss:// for TLS (default: $FLOWSTEER_REDIS)
  --quiet        no notes or progress

farm run:

  --piece BYTES  min bytes of a piece, such as 512k or 1G (default: 64M to 256M, by the size of the captures)
  --out FOLDER, --port N, --limit N, --json, --format csv|ndjson|parquet, --output FILE
                 as for flowsteer run; the output of parquet is a folder of files, in frame order
  --parts FOLDER where workers write for --out, --json and --format: a folder that all machines share (default: the name
                 of the output with .parts); it is removed at the end
  --shares N     shares for a scenario that tracks connections or ESP sequence numbers (default: 8). Each share reads
                 all captures, and steers the frames of its address pairs or SPIs
  --serial       steer all frames in order in one process. Needed by scenarios whose frames share meters, samplers or
                 buffers

farm worker:

  --workers N    number of processes; each steers one piece at a time (default: one per core)
  --lock SECONDS reassign the pieces of a machine that is silent for this long (default: 30)

A worker accepts only pieces of its own version of flowsteer. On SIGTERM or Ctrl-C it finishes its current pieces and
ends. A piece that fails, or whose process ends, is tried three times. Results stay in Redis for a week; repeating the
same run reuses them.

  flowsteer farm worker --redis redis://queue.example:6379
  flowsteer farm run rules.json /captures/*.pcap --redis redis://queue.example:6379
  flowsteer farm run rules.json https://store.example/monday.pcapng --format parquet --output rows

Exit codes of farm run: those of flowsteer run, and 5 pieces failed: standard error lists their byte ranges, and the
rest is complete. Of farm worker: 0; 2 Redis cannot be reached.
`;

export const SERVE = `flowsteer serve RULES: acts as a device with these rules, with ports for real machines

Frames that arrive on a wire are steered, and leave through the wires of the ports and queues that the rules select. The
device uses the clock of this machine. When a scenario file changes, its rules are reloaded; SIGHUP reloads them at
once. Rules of other programs are imported once, with --map, --set, --driver and --lenient (flowsteer import --help).

  --wire PLACE=KIND:...
                 add a wire; can be repeated. PLACE is uplink (port 1), portN, or the name of a queue: frames delivered
                 to the queue leave on the wire, and frames from the wire are sent by the queue. KIND is one of these:

    udp:HOST:PORT:HOST:PORT   UDP datagrams, one frame each: local address, then peer address (GNS3,
                              QEMU -netdev dgram, VirtualBox UDP tunnels)
    tcp-listen:HOST:PORT      a stream socket, each frame preceded by its length in 4 bytes (QEMU -netdev stream)
    tcp:HOST:PORT             the same, but connects to the peer, and reconnects when it goes away
    unix-listen:PATH          a Unix stream socket, which only the same user can open
    unix:PATH                 the same, but connects
    pcap:IN:OUT               pipes with captures, - for standard input or output; one of them may be empty

  --control unix:PATH
                 accept JSON-RPC 2.0 calls on this Unix socket, which only the same user can open; --control - uses
                 standard input and output, --control ws:127.0.0.1:PORT a WebSocket (docs/serve.md)
  --token TOKEN  require this token on the WebSocket; allows other addresses, and connections from web pages. Other users
                 see the command line: the variable FLOWSTEER_TOKEN is not visible to them
  --most-bytes N, --most-requests N
                 limits of a control connection: bytes per message (default: 1,048,576), messages per second (10,000)
  --virtual-time the clock of the device stands still until the control moves it: advance, advanceTo (docs/serve.md)
  --beyond-loopback
                 allow wires on addresses other than 127.0.0.1 and [::1]. Anyone who can reach them can send frames
  --snapshot FILE
                 write the device to this file at exit (docs/snapshots.md): rules, counters, state, clock
  --restore FILE
                 continue with such a device instead of a scenario
  --live         show frames and bits per second by rule, loss reason and wire: on a terminal as a view that is updated
                 every second, otherwise as one line per second with traffic
  --json         print lines of JSON on standard error instead of text
  --quiet        print no text

The command prints to standard error how to connect, and a summary at the end. SIGTERM or Ctrl-C ends it after the
frames that have arrived are steered and sent; a second signal ends it at once.

  flowsteer serve rules.json --wire uplink=udp:127.0.0.1:10001:127.0.0.1:10002
  flowsteer serve rules.json --wire uplink=unix-listen:uplink.sock --wire vm1=unix-listen:vm1.sock
  tcpdump -U -w - | flowsteer serve rules.json --wire uplink=pcap:-: --wire web=pcap::- | tcpdump -r -

Exit codes: 0; 1 the snapshot could not be written; 2 an input was refused; 143 and 130 a second signal.
`;

export const EXTCAP = `flowsteer extcap: provides capture interfaces to Wireshark; each packet has its verdict as a comment

  flowsteer extcap --install FOLDER       installs flowsteer in an extcap folder of Wireshark, which lists these
                                          folders under Help, About Wireshark, Folders

Wireshark and tshark then list two interfaces. Set their fields in the interface dialog:

  flowsteer-serve  the frames that a served device steers, as they arrived; each port and queue is an interface of the
                   capture. Its field is the Unix socket of flowsteer serve --control unix:PATH
  flowsteer-run    a capture steered by a scenario, as flowsteer run --annotate writes it. Its fields are the scenario,
                   the capture (default: the frames of the scenario), and the port at which frames arrive

  tshark -i flowsteer-serve -o extcap.flowsteer_serve.control:/run/user/1000/control.sock -Y 'frame.comment contains drop'

Wireshark calls the command with the options of its extcap protocol: --extcap-interfaces, --extcap-dlts,
--extcap-config, --extcap-interface NAME, --capture, --fifo PIPE; and with the fields: --control PATH; --scenario FILE,
--frames FILE, --port N.

Exit codes: 0, also when Wireshark ends the capture; otherwise those of flowsteer run.
`;
