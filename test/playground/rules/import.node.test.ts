/** Rules of other programs in the page: pasted, dropped and chosen; they stay as they are, from answers to repairs and links. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { ServedFile } from "../../../src/cli/serve/pageServer.js";
import { root } from "../../cli/support/command.js";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { addPacket, counts, grid } from "../frames/support.js";
import { completions, cursorAfter, editor, problems, until, untilText } from "./support/editor.js";

let playground: Playground;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

beforeEach(async () => {
  opened = await playground.open({ script: AXE });
  page = opened.page;
  await untilText(page, "flowsteer");
});
afterEach(async () => {
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

/** Gives a text, or files, to a part of the page. */
async function give(target: Locator, kind: "paste" | "drop", text: string, file?: string): Promise<void> {
  await target.evaluate(
    (element, [event, given, name]) => {
      const data = new DataTransfer();
      if (name === undefined) data.setData("text/plain", given);
      else data.items.add(new File([given], name, { type: "text/plain" }));
      const init = { bubbles: true, cancelable: true, composed: true };
      const made =
        event === "paste"
          ? new ClipboardEvent("paste", { ...init, clipboardData: data })
          : new DragEvent("drop", { ...init, dataTransfer: data });
      element.dispatchEvent(made);
    },
    [kind, text, file] as const,
  );
}

const tab = (name: string | RegExp): Locator => page.getByRole("tab", { name });
const path = (): Locator => page.locator(".pane.way");
const line = (text: string): Locator => page.locator(".rules-editor .cm-line", { hasText: text });

const TESTPMD = `# Web servers
testpmd> flow create 0 group 1 priority 0 ingress pattern eth / ipv4 dst is 192.0.2.10 / tcp dst is 443 / end actions queue index 3 / end
Flow rule #0 created
flow create 0 group 1 priority 1 ingress pattern eth / ipv4 dst is 192.0.2.10 / tcp dst is 443 / end actions queue index 4 / end
flow create 0 ingress pattern eth / end actions jump group 1 / end
flow create 0 ingress pattern eth / pppoes / end actions drop / end`;

/** Without a rule for other frames: the port of testpmd receives them. */
const DRIVERS =
  "flow create 0 ingress pattern eth / ipv4 dst is 198.51.100.7 / tcp dst is 443 / end actions queue index 1 / end";

test("a frame that only the driver's own rules received does not look delivered", async () => {
  await give(page.locator(".rules-editor"), "paste", DRIVERS);
  await tab(/^Rules/).waitFor();
  await addPacket(page, "ethernet / ipv4 destination 198.51.100.9 / udp destination_port 7");
  await grid(page)
    .getByText(/^no rule: qp:/)
    .waitFor();
  await path().getByText("no rule took the frame but the driver's own").waitFor();
  await page.getByRole("button", { name: /no rule took 1/ }).click();
  await counts(page, "1 frame");
  const filter = page.getByRole("combobox", { name: "Filter frames" });
  await until(async () => expect(await filter.inputValue()).toBe("fs.unclaimed"));
});

test("pasted testpmd rules stay, with their hits, dead rules and findings at their lines, and the scenario beside them", async () => {
  await give(editor(page), "paste", TESTPMD);
  await tab("Rules (testpmd)").waitFor();
  await untilText(page, "# Web servers");
  await untilText(page, "$schema", false);
  await problems(page).getByText("line 6").waitFor();
  await until(async () => expect(await line("pppoes").locator(".cm-lintRange-error").innerText()).toBe("pppoes"));
  await until(async () =>
    expect(
      await line("priority 1")
        .locator(".cm-deadRule")
        .first()
        .evaluate((one) => getComputedStyle(one).textDecorationLine),
    ).toBe("line-through"),
  );
  await addPacket(page, "ipv4 198.51.100.9 > 192.0.2.10 / tcp > 443 [S]");
  await until(async () => expect(await line("priority 0").getAttribute("data-hits")).toBe("1 hit"));
  expect(await line("priority 1").getAttribute("data-hits")).toBe("0 hits");
  expect(await violations(page)).toEqual([]);

  await cursorAfter(page, "jump group");
  await until(async () => expect(await line("jump group").getAttribute("class")).toContain("cm-object"));
  await tab("Scenario").click();
  const scenario = page.getByRole("textbox", { name: "Scenario" });
  await until(async () => expect(await scenario.locator(".cm-object").first().innerText()).toContain("{"));
  expect(await scenario.locator(".cm-object").allInnerTexts()).toContain('      "name": "pasted:5",');
  expect(await scenario.getAttribute("aria-readonly")).toBe("true");
  expect(await violations(page)).toEqual([]);
});

test("a repair is an edit of the text, and the undo of all goes back to the scenario of before", async () => {
  await give(editor(page), "paste", TESTPMD);
  await addPacket(page, "ipv4 198.51.100.9 > 192.0.2.10 / tcp > 80 [S]");
  await path().getByText('nearest: rule "pasted:2" does not match: tcp dst is 80, not 443').waitFor();
  await path()
    .getByRole("button", { name: 'Try repair: pasted:2: change "tcp dst is 443" to "tcp dst is 80".' })
    .click();
  await untilText(page, "tcp dst is 80");
  await path().getByText("qp:queue 3").first().waitFor();
  await cursorAfter(page, "# Web");
  // One step of the history, however slow the machine is.
  await page.keyboard.insertText(" and other");
  await untilText(page, "# Web and other servers");
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  await undo.click();
  await undo.click();
  await untilText(page, "tcp dst is 443");
  expect(await editor(page).innerText()).toContain("# Web servers");
  while (await undo.isEnabled()) await undo.click();
  await untilText(page, "why-vxlan");
  expect(await tab("Scenario").count()).toBe(0);
  await page.getByRole("button", { name: "Redo", exact: true }).click();
  await tab("Rules (testpmd)").waitFor();
});

test("a port is chosen beside the note that assumes it; a shared link and a reload have the text and the choice", async () => {
  const text = "flow create 1 ingress pattern eth / ipv4 / end actions queue index 1 / end # mine";
  await give(editor(page), "paste", text);
  await problems(page).getByText("Assumed: port 1 is taken for VF 1").waitFor();
  await problems(page).getByLabel("port1").selectOption("vf3");
  await page.getByText("Read as testpmd, port1 is vf3").waitFor();
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
  await page.keyboard.press("Escape");

  const other = await playground.open({ path: link.slice(link.indexOf("#")) });
  await untilText(other.page, text);
  await other.page.getByText("Read as testpmd, port1 is vf3").waitFor();
  expect(other.faults).toEqual([]);
  await other.context.close();

  await cursorAfter(page, "# mine");
  await page.keyboard.type(" alone");
  await until(async () => {
    await page.reload();
    await untilText(page, "# mine alone");
  });
  await page.getByText("Read as testpmd, port1 is vf3").waitFor();
});

test("words of the language are completed: items, the fields of an item, actions", async () => {
  await give(
    editor(page),
    "paste",
    "flow create 0 ingress pattern eth / ipv4 dst is 192.0.2.1 / end actions drop / end",
  );
  await tab("Rules (testpmd)").waitFor();
  await cursorAfter(page, "192.0.2.1");
  await page.keyboard.type(" ttl");
  // The words of a language come with its first text.
  const options = completions(page).getByRole("option");
  const asks = async (): Promise<string[]> => {
    await page.keyboard.press("Control+Space");
    return options.allInnerTexts();
  };
  await expect.poll(asks, { interval: 500 }).toEqual([expect.stringContaining("ttl")]);
  await page.keyboard.press("Escape");
  await page.keyboard.type(" is 4 / vxl");
  await completions(page).getByText("vxlan", { exact: true }).waitFor();
});

test("the scenario of a text is edited from then on where a person says so", async () => {
  await give(editor(page), "paste", TESTPMD);
  await tab("Scenario").click();
  await page.getByRole("button", { name: "Edit as scenario" }).click();
  await untilText(page, '"flowsteer": 1');
  expect(await tab("Scenario").count()).toBe(0);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await untilText(page, "# Web servers");
});

test("a dropped dump and a dropped capture lead to why the frame missed", async () => {
  const dump = readFileSync(join(root, "examples/vanished.csv"), "utf8");
  await give(page.locator(".pane.rules"), "drop", dump, "vanished.csv");
  await tab("Rules (mlx5-dump)").waitFor();
  const capture = readFileSync(join(root, "examples/vanished.pcap")).toString("base64");
  await page.locator(".pane.frames").evaluate((element, bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], "vanished.pcap"));
    element.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  }, capture);
  await counts(page, "4 frames");
  await grid(page).getByRole("row").nth(3).click();
  await until(async () => expect(await path().innerText()).toContain("outer.ip_dscp"));
});

test("rules of another program that the command opens are its text, steered over the capture", async () => {
  const text = "flow create 0 ingress pattern eth / ipv4 / end actions queue index 1 / end # mine";
  const served = await openPlayground(
    new Map<string, ServedFile>([
      ["opened/index.json", Buffer.from('{"rules":"rules.testpmd","capture":"everyday.pcap","isSource":true}')],
      ["opened/rules.json", Buffer.from(text)],
      ["opened/capture", join(root, "examples/everyday.pcap")],
    ]),
  );
  const other = await served.open({ path: "?opened" });
  await untilText(other.page, "# mine");
  await until(async () =>
    expect(await other.page.locator(".rules-editor .cm-line").first().getAttribute("data-hits")).toMatch(
      /[1-9]\d* hits/,
    ),
  );
  await until(async () => expect(await other.page.locator(".pane.way").innerText()).toContain("rules.testpmd:1"));
  expect(other.faults).toEqual([]);
  await other.context.close();
  await served.close();
});

test("a text that no sign tells is imported by the dialog", async () => {
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import rules" });
  await dialog.getByRole("textbox").fill("priority=5,tcp,tp_dst=80 actions=output:2");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Open as rules" }).click();
  await tab("Rules (ovs)").waitFor();
  await untilText(page, "tp_dst=80");
});

test("rules go out as a C program", async () => {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download: C program" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.c$/);
  expect(readFileSync(await download.path(), "utf8")).toContain("mlx5dv_dr_rule_create");
});
