/** The text of flowsteer farm --help. */
export const FARM = `flowsteer farm: steers captures on many machines, by way of a queue in Redis

  flowsteer farm run SCENARIO CAPTURE...  cuts captures into pieces, queues them, and prints what flowsteer run prints
  flowsteer farm worker                   takes pieces from the queue; one on each machine

Both need two packages more: npm install bullmq@6.7 ioredis@6. A capture is a file that every machine has under the same
path, or a URL whose server gives ranges of bytes. A packed capture is one piece.

  --redis URL    where Redis or Valkey is: redis://HOST:PORT, rediss:// with TLS; or the variable FLOWSTEER_REDIS
  --quiet        no notes and progress

farm run:

  --piece BYTES  the least bytes of a piece (64M; also 512k, 1G)
  --out FOLDER, --port N, --format csv|ndjson|parquet, --output FILE
                 as for flowsteer run; the output of parquet is a folder of files, in the order of frames
  --parts FOLDER where workers write for --out and --format: a folder that all machines share (the name of the output
                 and .parts); it is removed in the end
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
