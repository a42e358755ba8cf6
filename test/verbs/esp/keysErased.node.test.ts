/** No key is left in the memory of the process (Linux: /proc/PID/mem) after its action is destroyed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const CHILD = fileURLToPath(new URL("support/keyProcess.mjs", import.meta.url));
const KEYS = 41;
const CHUNK = 1 << 24;

/** Key `n` of the child, as it makes it. */
function keyOf(n: number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (n * 31 + i * 101 + ((i * i * 7) >> 1)) & 0xff));
}

/** The numbers of the keys whose first 16 bytes are in the memory of a process. */
function keysIn(pid: number): number[] {
  const keys = Array.from({ length: KEYS }, (_, n) => keyOf(n, 16));
  const found = new Set<number>();
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const chunk = Buffer.alloc(CHUNK);
  for (const line of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
    const range = /^([0-9a-f]+)-([0-9a-f]+) r.*?(\[v\w+\])?$/.exec(line);
    if (range === null || range[3] !== undefined) continue;
    const [from, to] = [BigInt(`0x${range[1]}`), BigInt(`0x${range[2]}`)];
    // Chunks overlap, so that no key lies across two.
    for (let at = from; at < to; at += BigInt(CHUNK - 64)) {
      const length = Math.min(CHUNK, Number(to - at));
      let read: number;
      try {
        read = readSync(memory, chunk, 0, length, at);
      } catch {
        continue; // a guard page
      }
      const bytes = chunk.subarray(0, read);
      for (const [n, key] of keys.entries()) if (bytes.includes(key)) found.add(n);
    }
  }
  closeSync(memory);
  return [...found].sort((a, b) => a - b);
}

/** Garbage collection moves objects and may overwrite stale copies: once without, once with it. */
const WAYS = [{ options: [] }, { options: ["--expose-gc"] }];

test.skipIf(!existsSync("/proc/self/mem")).each(WAYS)(
  "destroyed actions leave no key in memory: node %j",
  async ({ options }) => {
    const child = spawn(process.execPath, [...options, CHILD], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const step = async (name: string): Promise<number[]> => {
      child.stdin.write(`${name}\n`);
      expect((await lines.next()).value).toBe(`done ${name}`);
      return keysIn(child.pid!);
    };
    try {
      expect(await step("create")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20]);
      expect(await step("use")).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
      expect(await step("destroy")).toEqual([]);
    } finally {
      child.stdin.end();
      await once(child, "exit");
    }
  },
);
