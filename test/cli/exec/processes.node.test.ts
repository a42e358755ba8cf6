/** What processes do to the host: calls from threads at once, forks, and ends in the middle of anything. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { cHeader, cSource } from "../../../src/calls/index.js";
import { ExecHost } from "../../../src/cli/exec/host.js";
import { openLibrary } from "../../../src/cli/exec/library.js";
import { environmentOf } from "../../../src/cli/exec/program.js";
import type { SessionReport } from "../../../src/cli/exec/report/reports.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { compiled, compiles, exec, execIn } from "./support/programs.js";

const KILLS = 100;
/** Milliseconds that a program makes objects at most. */
const LIFE = 60;
/** Rules that no program makes in that time. */
const MANY_RULES = 500;

describe.runIf(compiles())("under flowsteer exec", () => {
  test.each(["", "-fsanitize=thread", "-fsanitize=address,undefined"])("eight threads %s", async (flag) => {
    const flags = flag === "" ? [] : [flag];
    if (!compiles(...flags)) return;
    const program = compiled("test/cli/exec/c/threads.c", ...flags);
    const env = { CC: ["cc", ...flags].join(" "), ASAN_OPTIONS: "verify_asan_link_order=0" };
    expect(await execIn(env, "--quiet", "--", program)).toEqual({ status: 0, out: "done\n", err: "" });
  });

  test("a process with threads forks: each child has a session of its own", async () => {
    const { status, out, err } = await exec("--json", "--", compiled("test/cli/exec/c/forks.c"));
    expect([status, out]).toEqual([0, "20 of 20 children\n"]);
    expect(err.match(/"kind":"session"/g)).toHaveLength(21);
  });

  test(`a program that is killed ${KILLS} times leaves nothing behind`, async () => {
    const random = new Random(seedFor("kills"));
    const program = compiled("test/cli/exec/c/builder.c");
    const generated = [
      { name: "generated.h", text: cHeader() },
      { name: "generated.c", text: cSource() },
    ];
    const library = await openLibrary({ generated });
    const loaded = await loadScenario({ flowsteer: 1 }, { countHits: true });
    let [started, ended] = [(): void => undefined, (_: SessionReport): void => undefined];
    const host = await ExecHost.open(loaded, {
      listener: {
        started: () => started(),
        refused: ({ message }) => expect.unreachable(message),
        ended: (session) => ended(session),
      },
    });
    const killed = async (life = random.below(LIFE)): Promise<number> => {
      const begin = new Promise<void>((resolve) => (started = resolve));
      const end = new Promise<SessionReport>((resolve) => (ended = resolve));
      const child = spawn(program, { env: environmentOf(library, host.path), stdio: "ignore" });
      await begin;
      await wait(life);
      child.kill("SIGKILL");
      return (await end).rules.length;
    };
    const state = (): unknown => {
      const { memory, rules, hits } = loaded.device.metrics();
      return { used: memory.used, rules, hits, users: loaded.device.users, files: readdirSync("/proc/self/fd").length };
    };
    // Pools grow to what the largest session needs, and stay: this one makes more rules than those to come can.
    let rules = 0;
    for (let life = 4 * LIFE; rules < MANY_RULES; life *= 2) rules = await killed(life);
    // Sockets are closed in a later turn.
    await wait(LIFE);
    const before = state();
    for (let n = 1; n < KILLS; n++) rules += await killed();
    await vi.waitFor(() => expect(state()).toEqual(before), { timeout: 60_000 });
    expect(rules).toBeGreaterThan(MANY_RULES + KILLS);
    await host.close();
  });
});
