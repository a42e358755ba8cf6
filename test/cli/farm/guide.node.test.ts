/** The files that docs/farm.md shows for docker compose and systemd. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { flowsteer, root, scratch } from "../support/command.js";

const guide = readFileSync(join(root, "docs/farm.md"), "utf8");
const HAS_SYSTEMD = spawnSync("systemd-analyze", ["--version"]).status === 0;
/** The command as npm installs it: npx does not hand on the signal that ends a worker. */
const COMMAND = "node_modules/.bin/flowsteer";

interface Compose {
  readonly services: Record<string, { image: string; command: string; volumes: string[]; environment?: object }>;
  readonly volumes: Record<string, unknown>;
}

/** The only block of the guide in a language. */
function block(language: string): string {
  const [found, ...others] = guide.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"));
  expect(others).toEqual([]);
  return found?.[1] ?? "";
}

/** What the command says without the Redis of the guide. */
async function without(redis: string, command: string): Promise<void> {
  const [program, ...args] = command.split(" ");
  expect(program).toBe(COMMAND);
  const { code, err } = await flowsteer([...args, "--redis", redis]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Redis cannot be reached") as string });
}

describe("the guide of flowsteer farm", () => {
  it("shows a compose file whose worker is a command of this version", async () => {
    const { services, volumes } = parse(block("yaml")) as Compose;
    expect(Object.keys(services)).toEqual(["redis", "worker"]);
    expect(services["redis"]?.volumes).toEqual([`${Object.keys(volumes)[0]}:/data`]);
    expect(services["worker"]?.environment).toEqual({ FLOWSTEER_REDIS: "redis://redis:6379" });
    await without("redis://127.0.0.1:1", services["worker"]?.command ?? "");
  });

  it("shows a unit of systemd whose worker is a command of this version", async () => {
    const [, folder, command = ""] = /^ExecStart=(\/\w+\/\w+)\/(.*)$/m.exec(block("ini")) ?? [];
    expect(block("ini")).toContain(`WorkingDirectory=${folder}\n`);
    await without("redis://127.0.0.1:1", command);
  });

  it.skipIf(!HAS_SYSTEMD)("shows a unit that systemd understands", () => {
    // The command must exist.
    const unit = block("ini").replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", scratch("farm.service", unit)]);
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
  });
});
