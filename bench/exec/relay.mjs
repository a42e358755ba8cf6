/**
 * The peer of programs under `flowsteer exec`: two processes whose messages of 4,096 bytes go through a third one, by Unix
 * sockets, and nothing else. It prints the microseconds of a round trip.
 *
 *     node bench/exec/relay.mjs COUNT
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SIZE = 4096;
/** What tells both sides that the other one is there. */
const GO = "go";
const [count, path, role] = process.argv.slice(2);

if (role === undefined) await relay();
else await side(role === "first");

async function relay() {
  const socket = join(mkdtempSync(join(tmpdir(), "flowsteer-relay-")), "socket");
  const sides = [];
  const server = createServer((one) => {
    sides.push(one);
    if (sides.length < 2) return;
    const [a, b] = sides;
    a.on("data", (bytes) => b.write(bytes));
    b.on("data", (bytes) => a.write(bytes));
    for (const each of sides) each.write(GO);
  });
  server.listen(socket);
  await once(server, "listening");
  const programs = ["second", "first"].map((name) =>
    spawn(process.execPath, [fileURLToPath(import.meta.url), count, socket, name], {
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
  await Promise.all(programs.map((program) => once(program, "exit")));
  rmSync(dirname(socket), { recursive: true });
  process.exit();
}

/** The first side sends a message and waits for the reply, `count` times. */
async function side(begins) {
  const socket = connect(path);
  const message = Buffer.alloc(SIZE);
  let start = 0n;
  // What comes with the word, or in the same turn after it, is of the first message.
  let [trips, held] = [0, -GO.length];
  socket.on("data", ({ length }) => {
    const isGo = held < 0;
    held += length;
    if (isGo && held >= 0) {
      start = process.hrtime.bigint();
      if (begins) socket.write(message);
    }
    if (held < SIZE) return;
    held -= SIZE;
    trips++;
    if (!begins || trips < Number(count)) socket.write(message);
    if (trips < Number(count)) return;
    if (begins) console.log(Number(process.hrtime.bigint() - start) / 1000 / Number(count));
    socket.end();
  });
}
