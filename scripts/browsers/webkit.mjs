/** WebKitGTK's MiniBrowser by WebKitWebDriver, which speaks WebDriver over HTTP, on a screen of Xvfb. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./firefox.mjs";

const LIBRARIES = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/libexec", "/usr/lib"];
const PATHS = {
  Navigate: "url",
  ExecuteAsyncScript: "execute/async",
  PerformActions: "actions",
  TakeScreenshot: "screenshot",
  SetWindowRect: "window/rect",
};

/** @returns the browser; undefined without it, its driver, or Xvfb */
export function findWebKit() {
  for (const needed of ["WebKitWebDriver", "Xvfb"])
    if (spawnSync(needed, ["-help"], { stdio: "ignore" }).error !== undefined) return undefined;
  const folders = LIBRARIES.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^webkit(2gtk|gtk)-/.test(name))
      .map((name) => `${folder}/${name}/MiniBrowser`),
  );
  return folders.find((file) => existsSync(file));
}

export async function startWebKit(path, { dark }) {
  const screen = await startScreen();
  const port = await freePort();
  const env = { ...process.env, DISPLAY: screen.display, GTK_THEME: dark ? "Adwaita:dark" : "Adwaita" };
  delete env.WAYLAND_DISPLAY;
  const driver = spawn("WebKitWebDriver", ["--host=127.0.0.1", `--port=${port}`], { env, stdio: "ignore" });
  const base = `http://127.0.0.1:${port}`;
  const call = async (method, url, body) => {
    const response = await fetch(url, {
      method,
      headers: { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  for (let tries = 0; ; tries++) {
    if (await call("GET", `${base}/status`).catch(() => null)) break;
    if (tries === 300) throw new Error("WebKitWebDriver does not answer");
    await sleep(100);
  }
  const { sessionId, capabilities } = await call("POST", `${base}/session`, {
    capabilities: {
      alwaysMatch: {
        timeouts: { script: 60_000, pageLoad: 120_000 },
        "webkitgtk:browserOptions": { binary: path, args: ["--automation"] },
      },
    },
  });
  const session = `${base}/session/${sessionId}`;
  return {
    name: `WebKitGTK ${capabilities.browserVersion}`,
    send: (command, parameters) =>
      command === "TakeScreenshot"
        ? call("GET", `${session}/screenshot`)
        : call("POST", `${session}/${PATHS[command]}`, parameters),
    async close() {
      await call("DELETE", session).catch(() => null);
      driver.kill();
      screen.close();
    },
  };
}

/** A screen in memory, with a number that Xvfb chooses. */
async function startScreen() {
  const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const number = await new Promise((resolve, reject) => {
    child.stdio[3].once("data", (bytes) => resolve(String(bytes).trim()));
    child.once("exit", () => reject(new Error("Xvfb does not start")));
  });
  return { display: `:${number}`, close: () => child.kill() };
}
