/** Paths of Unix sockets. */
import { once } from "node:events";
import { rmSync, statSync } from "node:fs";
import { connect, type Server } from "node:net";

/** Takes the rights of others away: who can write to a socket can connect to it. */
const OWN = 0o177;

/** Listens at a path that only the same user can open. @throws NodeJS.ErrnoException */
export async function listenAt(server: Server, path: string): Promise<void> {
  await freePath(path);
  const listening = once(server, "listening");
  // The socket is made within the call, so no one can connect before its rights are set.
  const before = process.umask(OWN);
  try {
    server.listen({ path });
  } finally {
    process.umask(before);
  }
  await listening;
}

/**
 * Removes the socket that an ended process has left. One that a process listens on stays, and so does
 * any other file: listening there fails with EADDRINUSE.
 */
async function freePath(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(true));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED"));
    socket.once("connect", () => socket.destroy());
  });
  if (!isAlive) rmSync(path, { force: true });
}
