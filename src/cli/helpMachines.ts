/** The texts of flowsteer farm and serve --help. */
export const FARM = `flowsteer farm: steers captures on many machines, by way of a queue in Redis

  flowsteer farm run SCENARIO CAPTURE...  cuts captures into pieces, queues them, and prints what flowsteer run prints
  flowsteer farm worker                   takes pieces from the queue; one on each machine

Both need two packages more: npm install bullmq@6.7 ioredis@6. A capture is a file that every machine has under the same
path, or a URL whose server gives ranges of bytes. A packed capture is one piece.

  --redis URL    where Redis or Valkey is: redis://HOST:PORT, rediss:// with TLS; or the variable FLOWSTEER_REDIS
  --quiet        no notes and progress

farm run:

  --piece BYTES  the least bytes of a piece (64M to 256M, by the size of the captures; also 512k, 1G)
  --out FOLDER, --port N, --limit N, --json, --format csv|ndjson|parquet, --output FILE
                 as for flowsteer run; the output of parquet is a folder of files, in the order of frames
  --parts FOLDER where workers write for --out, --json and --format: a folder that all machines share (the name of the
                 output and .parts); it is removed in the end
  --shares N     shares of a scenario that remembers connections or ESP sequence numbers (8): each reads all captures, and
                 steers the frames between its addresses, or of its SPIs
  --serial       one process steers all frames, in their order. A scenario whose frames share meters, samplers or buffers
                 needs it

farm worker:

  --workers N    processes, each of which steers a piece (one for each core)
  --lock SECONDS when a machine was not heard of for so long, its pieces go to another one (30)

A worker takes pieces of its own version of flowsteer only. SIGTERM or Ctrl-C ends it after the pieces that it has begun. A
piece that fails, or whose process ends, is tried three times. Results stay in Redis for a week: the same run again takes
them from there.

  flowsteer farm worker --redis redis://queue.example:6379
  flowsteer farm run rules.json /captures/*.pcap --redis redis://queue.example:6379
  flowsteer farm run rules.json https://store.example/monday.pcapng --format parquet --output rows

Exit codes of farm run: those of flowsteer run, and 5: pieces failed, standard error names their bytes, the rest is
complete. Of farm worker: 0; 2 there is no Redis.
`;

export const SERVE = `flowsteer serve SCENARIO: is the device of a scenario, into whose ports real machines plug

Frames that come in by a wire are steered, and leave by the wires of the ports and queues that the rules choose. The
clock of the device is that of the machine. When the file of the scenario changes, its rules follow; SIGHUP reads it at
once.

  --wire PLACE=KIND:...
                 a wire; the option is given once for each. PLACE is uplink (port 1), portN, or the name of a queue:
                 what the queue gets leaves by the wire, and what comes in is sent by the queue. KIND is one of these:

    udp:HOST:PORT:HOST:PORT   UDP datagrams, a frame each: the address here and that of the peer (GNS3,
                              QEMU -netdev dgram, VirtualBox UDP tunnels)
    tcp-listen:HOST:PORT      a stream socket, each frame after its length in four bytes (QEMU -netdev stream)
    tcp:HOST:PORT             the same, connects to the peer, and again when the peer is gone
    unix-listen:PATH          a Unix stream socket
    unix:PATH                 the same, connects
    pcap:IN:OUT               pipes with captures, - for standard input or output; one of them may be left out

  --control unix:PATH
                 takes calls as JSON-RPC 2.0 on this Unix socket, which is open to the same user; with --control - on
                 standard input and output; with --control ws:127.0.0.1:PORT on a WebSocket (docs/serve.md)
  --token TOKEN  who connects by the WebSocket must have it; lets it have another address, and pages connect
  --most-bytes N, --most-requests N
                 limits of a control connection: bytes of a message (1,048,576), messages in a second (10,000)
  --beyond-loopback
                 lets wires have other addresses than 127.0.0.1 and [::1]. Who can send there, can send frames
  --snapshot FILE
                 writes the device to this file at the end (docs/snapshots.md): rules, counters, state, clock
  --restore FILE
                 goes on with such a device, in place of a scenario
  --live         frames and bits a second by rule, by reason of loss and by wire: on a terminal a view that is drawn again
                 each second, else a line for each second in which frames come
  --json         lines of JSON on standard error instead of text
  --quiet        no text

The command tells on standard error how to plug in, and in the end what it did. SIGTERM or Ctrl-C ends it: frames that
have come are steered and leave first; a second signal ends it at once.

  flowsteer serve rules.json --wire uplink=udp:127.0.0.1:10001:127.0.0.1:10002
  flowsteer serve rules.json --wire uplink=unix-listen:uplink.sock --wire vm1=unix-listen:vm1.sock
  tcpdump -U -w - | flowsteer serve rules.json --wire uplink=pcap:-: --wire web=pcap::- | tcpdump -r -

Exit codes: 0; 1 the snapshot could not be written; 2 an input was refused; 143 and 130 a second signal.
`;

export const EXTCAP = `flowsteer extcap: is interfaces of Wireshark, whose packets have their verdict as a comment

  flowsteer extcap --install FOLDER       writes the program flowsteer into an extcap folder of Wireshark: Help, About
                                          Wireshark, Folders shows them

Wireshark and tshark then list two interfaces, whose fields the dialog of the interface has:

  flowsteer-serve  the frames that a served device steers, as they came in; each port and queue is an interface of the
                   capture. Its field is the Unix socket of flowsteer serve --control unix:PATH
  flowsteer-run    a capture through the rules of a scenario, as flowsteer run --annotate writes it. Its fields are the
                   scenario, the capture (else the frames of the scenario), and the port at which they arrive

  tshark -i flowsteer-serve -o extcap.flowsteer_serve.control:/run/user/1000/control.sock -Y 'frame.comment contains drop'

Wireshark calls the command by the options of its extcap protocol: --extcap-interfaces, --extcap-dlts, --extcap-config,
--extcap-interface NAME, --capture, --fifo PIPE; and the fields: --control PATH; --scenario FILE, --frames FILE, --port N.

Exit codes: 0, also where Wireshark ends the capture; else those of flowsteer run.
`;
