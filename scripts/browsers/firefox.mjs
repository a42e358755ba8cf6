/** Firefox by Marionette, the protocol that geckodriver speaks to it: messages `LENGTH:JSON` over TCP. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** @returns the program; undefined if it is not installed */
export function findFirefox() {
  const names = [process.env.FIREFOX_PATH, "firefox-esr", "firefox"].filter(Boolean);
  return names.find((path) => spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0);
}

export async function startFirefox(path, { dark }) {
  const port = await freePort();
  const profile = mkdtempSync(join(tmpdir(), "flowsteer-firefox-"));
  const settings = {
    "marionette.port": port,
    "ui.systemUsesDarkTheme": dark ? 1 : 0,
    "browser.shell.checkDefaultBrowser": false,
    "datareporting.policy.dataSubmissionEnabled": false,
    "browser.aboutwelcome.enabled": false,
    "app.update.enabled": false,
    "toolkit.telemetry.enabled": false,
  };
  const lines = Object.entries(settings).map(([key, value]) => `user_pref("${key}", ${JSON.stringify(value)});\n`);
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const child = spawn(path, ["--headless", "--no-remote", "--marionette", "--profile", profile], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const connection = await connectTo(port);
  const send = async (command, parameters) => {
    const result = await connection.call(`WebDriver:${command}`, parameters);
    return result !== null && typeof result === "object" && "value" in result ? result.value : result;
  };
  const { capabilities } = await send("NewSession", { timeouts: { script: 60_000, pageLoad: 120_000 } });
  return {
    name: `Firefox ${capabilities.browserVersion}`,
    send,
    async close() {
      connection.end();
      child.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

async function connectTo(port) {
  const end = performance.now() + 120_000;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const open = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (open) return new Connection(socket);
    if (performance.now() > end) throw new Error("Firefox does not answer");
    await sleep(200);
  }
}

class Connection {
  #socket;
  #rest = Buffer.alloc(0);
  #calls = new Map();
  #last = 0;

  constructor(socket) {
    this.#socket = socket;
    socket.on("data", (bytes) => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      while (this.#read());
    });
    socket.on("close", () => {
      for (const { reject } of this.#calls.values()) reject(new Error("Firefox has ended"));
    });
  }

  call(name, parameters) {
    const id = ++this.#last;
    const text = JSON.stringify([0, id, name, parameters]);
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  end() {
    this.#calls.clear();
    this.#socket.destroy();
  }

  /** Reads one message. @returns whether there was a whole one */
  #read() {
    const colon = this.#rest.indexOf(":");
    if (colon < 0) return false;
    const end = colon + 1 + Number(this.#rest.toString("latin1", 0, colon));
    if (this.#rest.length < end) return false;
    const message = JSON.parse(this.#rest.toString("utf8", colon + 1, end));
    this.#rest = this.#rest.subarray(end);
    // The first message is a greeting.
    if (!Array.isArray(message)) return true;
    const [, id, error, result] = message;
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === null) call?.resolve(result);
    else call?.reject(new Error(`${error.error}: ${error.message}`));
    return true;
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
