/** flowsteer play: the page and its files on loopback. */
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { expect, it } from "vitest";
import { servePage } from "../../src/cli/serve/pageServer.js";
import { flowsteer, root, scratch, start } from "./support/command.js";

const RULES = readFileSync(join(root, "examples/why-vxlan.json"), "utf8");
const CAPTURE = "examples/everyday.pcap";

interface Playing {
  readonly child: ChildProcessWithoutNullStreams;
  readonly address: string;
  readonly out: string;
}

/** Starts the command, and waits until it has told its address and everything else. */
async function play(...args: string[]): Promise<Playing> {
  const child = start(["play", "--port", "0", ...args]);
  let out = "";
  for await (const text of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
    out += text;
    if (/ends it|^http/m.test(out)) break;
  }
  const [address = ""] = /http:\S+/.exec(out) ?? [];
  return { child, address, out };
}

async function interrupted({ child }: Playing, signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
  child.kill(signal);
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}

it("serves rules of other programs as they are", async () => {
  const text = "flow create 0 ingress pattern eth / end actions queue index 1 / end\n";
  const playing = await play(scratch("rules.testpmd", text), "--map", "port0=vf1", "--driver", "mlx5-pmd-hws");
  const at = (path: string): string => new URL(path, playing.address).href;
  expect(await (await fetch(at("opened/index.json"))).json()).toEqual({
    rules: "rules.testpmd",
    capture: null,
    reading: { map: { port0: "vf1" }, driver: "mlx5-pmd-hws", profile: null },
  });
  expect(await (await fetch(at("opened/rules.json"))).text()).toBe(text);
  expect(await interrupted(playing)).toBe(0);
});

it("compresses files in memory too, as the page of the package is", async () => {
  const script = Buffer.from("let a = 1;\n".repeat(1000));
  const server = await servePage(join(root, "dist/none"), new Map([["page.js", script]]), 0);
  try {
    const answer = await fetch(new URL("page.js", server.url));
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(Number(answer.headers.get("content-length"))).toBeLessThan(script.length / 10);
    expect(Buffer.from(await answer.arrayBuffer()).equals(script)).toBe(true);
  } finally {
    await server.close();
  }
});

it("compresses the page, and does not send again what the browser has", async () => {
  const playing = await play();
  const ask = async (headers: Record<string, string>, path = "traced.wasm") => {
    const asked = request(new URL(path, playing.address), { headers });
    asked.end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const bytes = await buffer(answer);
    return { bytes, status: answer.statusCode, headers: answer.headers };
  };
  const plain = readFileSync(join(root, "dist/playground/traced.wasm"));
  const packed = await ask({ "accept-encoding": "gzip, br" });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(packed.headers["content-length"]).toBe(String(packed.bytes.length));
  expect(packed.bytes.length).toBeLessThan(plain.length / 2);
  expect(gunzipSync(packed.bytes).equals(plain)).toBe(true);
  expect((await ask({})).bytes.equals(plain)).toBe(true);
  const again = await ask({ "accept-encoding": "gzip", "if-none-match": packed.headers.etag ?? "" });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  const other = await ask({ "accept-encoding": "gzip", "if-none-match": '"other"' });
  expect([other.status, other.bytes.length]).toEqual([200, packed.bytes.length]);
  expect(await interrupted(playing)).toBe(0);
});

it("serves the page, and the files as they are at each request", async () => {
  const rules = scratch("my rules.json", RULES);
  const playing = await play(rules, CAPTURE);
  expect(playing.out).toBe(
    `The playground is at ${playing.address}\n` +
      `A reload of the page reads ${rules} again. The page does not write to it: download what you edit.\n` +
      "Ctrl-C ends it.\n",
  );
  expect(playing.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?opened$/);
  const at = (path: string): string => new URL(path, playing.address).href;
  expect(await (await fetch(playing.address)).text()).toContain("<title>flowsteer");
  expect(await (await fetch(at("opened/index.json"))).json()).toEqual({
    rules: "my rules.json",
    capture: "everyday.pcap",
    reading: null,
  });
  const capture = Buffer.from(await (await fetch(at("opened/capture"))).arrayBuffer());
  expect(capture.equals(readFileSync(join(root, CAPTURE)))).toBe(true);
  expect(await (await fetch(at("opened/rules.json"))).text()).toBe(RULES);
  writeFileSync(rules, RULES.replace("5001", "5003"));
  expect(await (await fetch(at("opened/rules.json"))).text()).toContain("5003");
  writeFileSync(rules, "");
  expect(await (await fetch(at("opened/rules.json"))).text()).toBe("");
  // Other files, other methods and other names of this machine get nothing.
  expect((await fetch(at("opened/%2e%2e/%2e%2e/package.json"))).status).toBe(404);
  expect((await fetch(at("opened/rules.json"), { method: "POST" })).status).toBe(405);
  const { port } = new URL(playing.address);
  const status = await new Promise((resolve) =>
    request(
      { port, host: "127.0.0.1", path: "/opened/rules.json", headers: { host: `evil.example:${port}` } },
      (answer) => resolve(answer.statusCode),
    ).end(),
  );
  expect(status).toBe(403);
  expect(await interrupted(playing)).toBe(0);
});

it("without files serves the page alone; SIGTERM ends it too", async () => {
  const playing = await play("--quiet");
  expect(playing.out).toBe(`${playing.address}\n`);
  expect(playing.address).toMatch(/\d\/$/);
  expect((await fetch(`${playing.address}opened/index.json`)).status).toBe(404);
  expect(await interrupted(playing, "SIGTERM")).toBe(0);
});

it("opens rules with mistakes, and says so", async () => {
  const playing = await play(scratch("mistaken.json", RULES.replace('"overlay", "match"', '"underlay", "match"')));
  expect(playing.out).toMatch(/note: .*mistaken\.json has 1 error: the page shows where\n/);
  await interrupted(playing);
});

it("takes another port where the usual one is taken, and refuses one that the caller names", async () => {
  const first = await play();
  const { port } = new URL(first.address);
  expect(await flowsteer(["play", "--port", port])).toEqual({
    code: 2,
    out: "",
    err: `flowsteer: --port ${port}: the port is in use; omit --port to use any free port\n`,
  });
  await interrupted(first);
});

it.each([
  ["no such file", () => ["nothing.json"], /^flowsteer: nothing\.json: the file cannot be read\n {2}no such file/],
  ["no scenario", () => [scratch("list.json", "[]")], /list\.json: .*\n/],
  ["text", () => [scratch("text.json", "hello")], /text\.json: .*JSON/],
  ["a capture in place of the rules", () => [CAPTURE], /everyday\.pcap: /],
  [
    "no such capture",
    () => ["examples/everyday.json", "nothing.pcap"],
    /^flowsteer: nothing\.pcap: the file cannot be read/,
  ],
  [
    "no capture",
    () => ["examples/everyday.json", "README.md"],
    /^flowsteer: README\.md: .*neither a pcap nor a pcapng file/,
  ],
  ["standard input", () => ["-"], /reads its files again at each reload; name a file/],
  ["three files", () => ["a", "b", "c"], /name one file of rules and one capture/],
  [
    "a driver of a scenario",
    () => ["examples/everyday.json", "--driver", "none"],
    /--driver: it is for rules of other/,
  ],
  ["no such driver", () => ["examples/rules/flows.testpmd", "--driver", "mlx9"], /mlx9/],
  ["no such profile", () => ["examples/rules/flows.testpmd", "--profile", "connectx9"], /connectx9/],
  ["no number", () => ["--port", "x"], /--port x: expected a whole number, 0 to 65535/],
  ["an option that there is not", () => ["--prot", "1"], /did you mean --port\?/],
])("refuses %s", async (_, args, message) => {
  const { code, out, err } = await flowsteer(["play", ...args()]);
  expect(err).toMatch(message);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

it("says what to do where the package has no page", () => {
  const folder = scratch("package");
  cpSync(join(root, "dist"), join(folder, "dist"), {
    recursive: true,
    filter: (path) => !/dist.(playground|types)/.test(path),
  });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "dist/cli.js"), "play"], { encoding: "utf8" });
  expect(stderr).toMatch(/dist.playground.: the file cannot be read\n {2}the page is not built: npm run build/);
  expect(status).toBe(2);
});
