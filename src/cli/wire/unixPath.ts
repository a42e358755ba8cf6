/** Paths of Unix sockets. */
import { rmSync, statSync } from "node:fs";
import { connect } from "node:net";

/**
 * Removes the socket that an ended process has left. One that a process listens on stays, and so does
 * any other file: listening there fails with EADDRINUSE.
 */
export async function freePath(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(true));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED"));
    socket.once("connect", () => socket.destroy());
  });
  if (!isAlive) rmSync(path, { force: true });
}
