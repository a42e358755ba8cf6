/** A model of `flowsteer farm run`: where the time of a run goes, and what limits it. docs/farm.md */

/** What one machine was measured to do. */
export interface Costs {
  /** Bytes of captures that a core indexes and steers in a second. */
  readonly index: number;
  readonly steer: number;
  /** Seconds of a core for a piece, beyond its steering. */
  readonly piece: number;
  /** Seconds of Redis for a job. */
  readonly redis: number;
  /** Seconds of the runner for a result. */
  readonly merge: number;
}

export interface Setting {
  readonly bytes: number;
  readonly fileBytes: number;
  readonly pieceBytes: number;
  readonly machines: number;
  readonly cores: number;
  /** Bytes a second that a machine, and that the storage of all machines gives. */
  readonly network: number;
  readonly storage: number;
  /** Whether captures are indexed first, since rows need the numbers of frames. */
  readonly rows: boolean;
}

export interface Times {
  /** Seconds until all files are indexed, and until the last piece is steered. */
  readonly indexed: number;
  readonly steered: number;
  /** Seconds that Redis and the runner are busy. */
  readonly redis: number;
  readonly merging: number;
  readonly total: number;
  /** What the run waits for most. */
  readonly limit: "cores" | "network" | "storage" | "one file" | "Redis" | "merging";
}

/**
 * Simulates a run: cores take jobs in order. Reading is shared evenly: a job never reads faster than its core's share of the
 * machine's network and of the storage.
 */
export function simulate(setting: Setting, costs: Costs): Times {
  const { bytes, fileBytes, pieceBytes, machines, cores, network, storage, rows } = setting;
  const all = machines * cores;
  const files = Math.ceil(bytes / fileBytes);
  const readers = (jobs: number): number => Math.min(all, jobs);
  const reading = (jobs: number): number => {
    const busyCores = Math.ceil(readers(jobs) / machines);
    return Math.min(network / busyCores, storage / readers(jobs));
  };
  const indexing = fileBytes / Math.min(costs.index, reading(files));
  const indexed = rows ? lastOf(files, all, () => indexing) : 0;

  const pieces = files * Math.ceil(fileBytes / pieceBytes);
  const rate = Math.min(costs.steer, reading(pieces));
  const steering = lastOf(pieces, all, () => Math.min(pieceBytes, fileBytes) / rate + costs.piece);

  const redis = ((rows ? files : 0) + pieces) * costs.redis;
  const merging = pieces * costs.merge;
  // Redis and the runner work while cores do. Files are indexed before the first pieces of later files can be queued.
  const total = Math.max(indexed + steering, redis, merging);
  return { indexed, steered: indexed + steering, redis, merging, total, limit: limitOf() };

  function limitOf(): Times["limit"] {
    if (total === redis) return "Redis";
    if (total === merging) return "merging";
    if (indexed > steering && files < all) return "one file";
    if (rate === costs.steer) return "cores";
    return network / Math.ceil(readers(pieces) / machines) < storage / readers(pieces) ? "network" : "storage";
  }
}

/** Seconds until the last of so many jobs ends, if each goes to the core that is free first. */
function lastOf(jobs: number, cores: number, seconds: () => number): number {
  // All jobs of a phase are equal, so cores take them in rounds.
  return Math.ceil(jobs / cores) * seconds();
}
