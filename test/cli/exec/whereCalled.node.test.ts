/** Where a program made a call: file and line with debug information, else what symbols tell. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { NO_PAINT } from "../../../src/cli/text.js";
import { Refusals, refusalText } from "../../../src/cli/exec/report/refusals.js";
import { repeatedText } from "../../../src/cli/exec/report/reportText.js";
import type { CodePlace, RefusedCall } from "../../../src/cli/exec/report/reports.js";
import { callerOf, placeText, WhereCalled, type SourcePlace } from "../../../src/cli/exec/report/whereCalled.js";
import { scratch } from "../support/command.js";

const hasTools = ["cc", "addr2line", "objdump", "strip"].every(
  (tool) => spawnSync(tool, ["--version"]).error === undefined,
);
if (!hasTools)
  console.warn("places of calls are not looked up: no cc, addr2line, objdump or strip (Debian: gcc, binutils)");

const SOURCE = `int callee(int n);
__attribute__((noinline)) int callee(int n)
{
	return n + 1;
}

static __attribute__((noinline)) int caller(int n)
{
	return callee(n) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return caller(argc);
}
`;

const place = (module: string, offset = 1, symbol: string | null = null): CodePlace => ({ module, offset, symbol });

/** The return address in `caller`: the instruction after its call. */
function returnAddress(program: string): number {
  const text = execFileSync("objdump", ["-d", "--no-show-raw-insn", program], { encoding: "utf8" });
  const [, body = ""] = /<caller>:\n([^]*?)\n\n/.exec(text) ?? [];
  const [, after = ""] = /\b(?:call|bl)\w*\s.*<callee>.*\n\s*([0-9a-f]+):/.exec(body) ?? [];
  return Number.parseInt(after, 16);
}

function compiled(name: string, ...flags: string[]): string {
  const program = scratch(name);
  execFileSync("cc", ["-O1", "-fno-inline", ...flags, scratch("where.c", SOURCE), "-o", program]);
  return program;
}

describe.runIf(hasTools)("addr2line", () => {
  test("file and line of the call, not of its return", async () => {
    const module = compiled("where-g", "-g");
    const offset = returnAddress(module);
    const found = await new WhereCalled().of([place("/lib/x86_64-linux-gnu/libibverbs.so.1"), place(module, offset)]);
    expect(found).toEqual({ module, offset, function: "caller", file: expect.stringMatching(/where\.c$/), line: 9 });
    expect(placeText(found as SourcePlace)).toBe("where.c:9");
  });

  test("of functions that were inlined the first that is not of a system header", async () => {
    const tool = scratch(
      "addr2line.sh",
      `#!/bin/sh
printf 'ibv_create_flow\\n/usr/include/infiniband/verbs.h:2454\\nopen_flows\\n/home/me/r.c:31\\nmain\\n/home/me/r.c:50\\n'
`,
    );
    chmodSync(tool, 0o755);
    const found = await new WhereCalled(tool).of([place("/bin/a", 20)]);
    expect(found).toMatchObject({ function: "open_flows", file: "/home/me/r.c", line: 31 });
  });

  test("without debug information the function, without symbols the address", async () => {
    const module = compiled("where-0", "-g0");
    const offset = returnAddress(module);
    const text = async (): Promise<string> =>
      placeText((await new WhereCalled().of([place(module, offset)])) as SourcePlace);
    expect(await text()).toBe("caller (where-0)");
    execFileSync("strip", [module]);
    expect(await text()).toBe(`where-0+0x${offset.toString(16)}`);
  });
});

test("without the tool: the dynamic symbol, or the address", async () => {
  const where = new WhereCalled("/no/such/addr2line");
  expect(placeText((await where.of([place("/bin/a", 18, "open_flows")])) as SourcePlace)).toBe("open_flows (a)");
  expect(placeText((await where.of([place("/bin/a", 19)])) as SourcePlace)).toBe("a+0x13");
  expect(await where.of([])).toBeNull();
});

test("the caller is the first outside of the libraries between program and device", () => {
  const chain = [
    "/tmp/cache/libflowsteer-verbs.so",
    "/lib/libmlx5.so.1.24.44.0",
    "/lib/libibverbs.so.1",
    "/usr/lib/libcap.so",
    "/lib/libc.so.6",
  ].map((module) => place(module));
  expect(callerOf(chain)?.module).toBe("/usr/lib/libcap.so");
  expect(callerOf(chain.slice(0, 3))?.module).toBe("/tmp/cache/libflowsteer-verbs.so");
});

describe("refusals", () => {
  const refused = (message: string, offset = 1): RefusedCall => ({
    pid: 7,
    call: "ibv_create_flow",
    code: "EINVAL",
    message: `ibv_create_flow: ${message} (EINVAL); hint`,
    callers: [place("/bin/program", offset, "main")],
  });

  test("are reported once for each sentence and place, in the order of the calls, and counted", async () => {
    // The first place is found last.
    const found: ((at: SourcePlace) => void)[] = [];
    const where = {
      of: ([caller]: readonly CodePlace[]) =>
        new Promise<SourcePlace>((resolve) => found.push(() => resolve(sourcePlace(caller as CodePlace)))),
    };
    const report = vi.fn();
    const refusals = new Refusals(where, report);
    for (const one of [refused("a"), refused("b"), refused("a"), refused("a", 2), refused("a")]) refusals.add(one);
    for (const resolve of found.reverse()) resolve(sourcePlace(place("")));
    const sums = await refusals.end();
    const texts = report.mock.calls.map(([one]) => refusalText(NO_PAINT, one as never));
    expect(texts).toEqual([
      "main (program) ibv_create_flow: EINVAL: a; hint\n",
      "main (program) ibv_create_flow: EINVAL: b; hint\n",
      "main (program) ibv_create_flow: EINVAL: a; hint\n",
    ]);
    expect(sums.map(({ times }) => times)).toEqual([3, 1, 1]);
    expect(repeatedText(NO_PAINT, sums)).toBe("main (program) ibv_create_flow: EINVAL, 3 times\n");
  });

  test("without a stack, and of a message that does not begin with the call", async () => {
    const report = vi.fn();
    const refusals = new Refusals(new WhereCalled(), report);
    refusals.add({ ...refused("a"), message: "no room\u001b[1m", callers: [] });
    await refusals.end();
    expect(refusalText(NO_PAINT, report.mock.calls[0]?.[0] as never)).toBe(
      "ibv_create_flow: EINVAL: no room\\x1b[1m\n",
    );
  });
});

function sourcePlace({ module, offset, symbol }: CodePlace): SourcePlace {
  return { module, offset, function: symbol, file: null, line: null };
}
