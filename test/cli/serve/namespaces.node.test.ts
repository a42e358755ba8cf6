/** Two network namespaces that reach each other by TAP devices and two served devices. */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { flowsteer, root } from "../support/command.js";

const SKIPPED = 77;
const RUN = join(root, "examples/namespaces/run.py");

interface Rate {
  readonly sent: number;
  readonly received: number;
}

/** What run.py --json prints. */
interface Done {
  readonly ping: { readonly received: number };
  readonly tunnel: { readonly port: number; readonly vni: number; readonly comment: string };
  readonly tcp: { readonly bytes: number };
  readonly telnet: { readonly frame: string; readonly why: string };
  /** Null without iperf3. */
  readonly rates: { readonly tcp: Rate; readonly udp: Rate } | null;
}

it("has scenarios without findings", async () => {
  const files = ["left", "right"].map((side) => join(root, `examples/namespaces/${side}.json`));
  expect(await flowsteer(["check", ...files])).toMatchObject({ code: 0, err: "" });
});

it("pings, copies a file in VXLAN, and says why telnet is dropped", { timeout: 300_000 }, async (context) => {
  const { code, out, err } = await ran();
  if (code === SKIPPED) {
    console.warn(`examples/namespaces/run.py is not run: ${err}`);
    context.skip();
  }
  expect(code, err).toBe(0);
  const { ping, tunnel, tcp, telnet, rates } = JSON.parse(out) as Done;
  expect(ping.received).toBeGreaterThan(0);
  expect(tunnel).toMatchObject({ port: 4789, vni: 5001, comment: expect.stringContaining("network 5001") as string });
  expect(tcp.bytes).toBe(16 << 20);
  expect(telnet.why).toContain('rule "no telnet" took the frame first');
  expect(Buffer.from(telnet.frame, "hex").readUInt16BE(36)).toBe(23);
  if (rates !== null) expect(Math.min(rates.tcp.received, rates.udp.received)).toBeGreaterThan(0);
  const left = execFileSync("ip", ["netns", "list"], { encoding: "utf8" });
  expect(left).not.toContain("flowsteer-left");
});

function ran(): Promise<{ code: unknown; out: string; err: string }> {
  const command = ["--", process.execPath, join(root, "dist/cli.js")];
  return new Promise((resolve) =>
    execFile("python3", [RUN, "--json", "--seconds", "1", ...command], (error, out, err) => {
      const missing = (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
      resolve(missing ? { code: SKIPPED, out, err: "no python3" } : { code: error?.code ?? 0, out, err });
    }),
  );
}
