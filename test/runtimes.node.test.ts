/**
 * The package in the runtimes that docs/runtimes.md names. Those that are not installed are skipped: in the
 * path, or in `node_modules/.bin` of the folder FLOWSTEER_RUNTIMES (npm install bun deno workerd node@22).
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { servePage } from "../src/cli/serve/pageServer.js";
import { launchBrowser, PAGE_LIMITS } from "./support/browser.js";
import { installedFolder } from "./support/installed.js";
import { setting } from "./support/tier.js";

vi.setConfig(PAGE_LIMITS);

/** A rule, a frame that it takes, and one that it does not. */
const USE = `
import { createDevice, createSink } from "flowsteer";
import { buildFrame } from "flowsteer/packet";
import { IBV_FLOW_ATTR_NORMAL, IBV_FLOW_SPEC_TCP, ibv_create_flow, ibv_open_device } from "flowsteer/verbs";

export async function verdicts(options = {}) {
  const device = await createDevice(options);
  const mask = { dst_port: 0xffff };
  const specs = [{ type: IBV_FLOW_SPEC_TCP, val: { dst_port: 443 }, mask }];
  ibv_create_flow(createSink(ibv_open_device(device), "web"), { type: IBV_FLOW_ATTR_NORMAL, port: 1, specs });
  const frames = [443, 80].map((destination_port) =>
    buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port }]),
  );
  return frames.map((frame) => device.receive(1, frame).verdict).join();
}
`;
const EXPECTED = "deliver,miss";

let folder: string;

beforeAll(() => {
  folder = installedFolder();
  writeFileSync(join(folder, "use.js"), USE);
  writeFileSync(join(folder, "program.js"), 'import { verdicts } from "./use.js";\nconsole.log(await verdicts());\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The file of a runtime; undefined where it is not installed. */
function installed(name: string): string | undefined {
  const own = setting("FLOWSTEER_RUNTIMES");
  const folders = [
    ...(own === undefined ? [] : [join(own, "node_modules/.bin")]),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.map((one) => join(one, name)).find((file) => existsSync(file));
}

const COMMANDS = { node: [], bun: [], deno: ["run", "--allow-read", "--allow-env"] };

for (const [name, args] of Object.entries(COMMANDS)) {
  test(name, ({ skip }) => {
    const file = installed(name);
    if (file === undefined) return skip("it is not installed");
    const { stdout, stderr } = spawnSync(file, [...args, "program.js"], { cwd: folder, encoding: "utf8" });
    expect(stdout.trim(), stderr).toBe(EXPECTED);
  });
}

/** Bundles a module of the folder, with the core beside it. */
async function bundle(name: string, text: string): Promise<void> {
  writeFileSync(join(folder, `${name}.src.js`), text);
  const options = { bundle: true, format: "esm" as const, external: ["./core.wasm"] };
  await build({ entryPoints: [join(folder, `${name}.src.js`)], outfile: join(folder, `${name}.js`), ...options });
  copyFileSync(join(folder, "node_modules/flowsteer/dist/core.wasm"), join(folder, "core.wasm"));
}

const CAPNP = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .program)],
  sockets = [(name = "http", address = "127.0.0.1:PORT", http = (), service = "main")],
);
const program :Workerd.Worker = (
  modules = [(name = "workerd.js", esModule = embed "workerd.js"), (name = "core.wasm", wasm = embed "core.wasm")],
  compatibilityDate = "2025-05-05",
);
`;

test("workerd", async ({ skip }) => {
  const file = installed("workerd");
  if (file === undefined) return skip("it is not installed");
  await bundle(
    "workerd",
    `import core from "./core.wasm";
     import { verdicts } from "./use.js";
     export default { fetch: async () => new Response(await verdicts({ core })) };`,
  );
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  writeFileSync(join(folder, "config.capnp"), CAPNP.replace("PORT", String(port)));
  const child = spawn(file, ["serve", "config.capnp"], { cwd: folder });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  try {
    const answer = async (): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
      if (response !== null) return response.text();
      if (child.exitCode !== null) throw new Error(text);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return answer();
    };
    expect(await answer(), text).toBe(EXPECTED);
  } finally {
    child.kill();
  }
});

const REPLIES = `
import { verdicts } from "./use.js";
const reply = async (port) => port.postMessage(await verdicts().catch(String));
self.onmessage = ({ ports }) => reply(ports[0]);
self.onconnect = ({ ports }) => (ports[0].onmessage = (event) => reply(event.ports[0]));
`;

const PAGE = `<!doctype html><script type="module">
const type = "module";
const channel = () => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => resolve(data);
  globalThis.send(port2);
});
globalThis.ask = async (kind) => {
  if (kind === "worker") {
    const worker = new Worker("replies.js", { type });
    globalThis.send = (port) => worker.postMessage(null, [port]);
  } else if (kind === "shared worker") {
    const { port } = new SharedWorker("replies.js", { type });
    globalThis.send = (one) => port.postMessage(null, [one]);
  } else {
    await navigator.serviceWorker.register("replies.js", { type });
    const { active } = await navigator.serviceWorker.ready;
    globalThis.send = (port) => active.postMessage(null, [port]);
  }
  return channel();
};
document.title = "ready";
</script>`;

test("workers of a page", async () => {
  await bundle("replies", REPLIES);
  writeFileSync(join(folder, "index.html"), PAGE);
  const [browser, server] = [await launchBrowser(), await servePage(folder, new Map(), 0)];
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.waitForFunction(() => document.title === "ready");
    for (const kind of ["worker", "shared worker", "service worker"])
      expect(await page.evaluate(`ask(${JSON.stringify(kind)})`), kind).toBe(EXPECTED);
  } finally {
    await browser.close();
    await server.close();
  }
});
