/** The pane "Rules": typing, errors in place, completion, descriptions, find, format, undo. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { AXE, violations } from "../support/axe.js";
import { openPlayground, type OpenPage, type Playground } from "../support/page.js";
import { completions, cursorAfter, editor, problems, until, untilText, write } from "./support/editor.js";

let playground: Playground;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  playground = await openPlayground();
});
afterAll(async () => playground.close());

beforeEach(async () => {
  // Tall, so that the editor shows all lines.
  opened = await playground.open({ height: 3000 });
  page = opened.page;
  await untilText(page, "flowsteer");
});
afterEach(async () => {
  // Errors of the content security policy among them.
  expect(opened.faults).toEqual([]);
  await opened.context.close();
});

test("an error stands where it is, in the list, and is mended", async () => {
  await cursorAfter(page, '"table": "over');
  await page.keyboard.type("k");
  await problems(page)
    .getByText(/^1 error/)
    .waitFor();
  const marked = page.locator(".cm-lintRange-error");
  await until(async () => expect((await marked.allInnerTexts()).join("")).toContain("overklay"));
  expect(await page.locator(".cm-marks .cm-error").count()).toBe(1);
  // The list goes there, and so does a key.
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("F8");
  await until(async () => expect(await selected()).toContain("overklay"));
  await page.keyboard.press("ControlOrMeta+Home");
  await problems(page)
    .getByRole("button", { name: /overklay|unknown|name/i })
    .first()
    .click();
  await until(async () => expect(await selected()).toContain("overklay"));
  // It is announced.
  await page.getByRole("status").getByText("1 error in the rules").waitFor({ state: "attached" });
  // A button uses the name that was meant; undo takes it back.
  await problems(page).getByRole("button", { name: 'Use "overlay"' }).click();
  await problems(page).waitFor({ state: "detached" });
  await untilText(page, "overklay", false);
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+Z");
  await untilText(page, "overklay");
});

test("text that is no JSON says where", async () => {
  await cursorAfter(page, '"queues": [');
  await page.keyboard.insertText("?");
  await problems(page)
    .getByText(/^1 error/)
    .waitFor();
  await until(async () => expect(await page.locator(".cm-lintRange-error").allInnerTexts()).toEqual(["?"]));
  await page.keyboard.press("Backspace");
  await problems(page).waitFor({ state: "detached" });
});

/** Takes the completion that the list shows: a list takes no key in its first 75 ms. */
async function accept(): Promise<void> {
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
}

test("keys and match fields are completed by keyboard", async () => {
  await cursorAfter(page, '"name": "to blue", ');
  await page.keyboard.press("ControlOrMeta+Space");
  await completions(page).waitFor();
  await page.keyboard.type("ma", { delay: 60 });
  await completions(page).getByRole("option", { name: "match", exact: true }).waitFor();
  await accept();
  await untilText(page, '"match": {},"table"');
  await page.keyboard.type('"outer.ipv4_d', { delay: 60 });
  const option = completions(page).getByRole("option", { name: /outer\.ipv4_dst/ });
  await option.waitFor();
  expect(await option.innerText()).toContain("32 bits");
  await until(async () => expect(await page.locator(".cm-completionInfo").innerText()).toContain("10.0.0.0/8"));
  await accept();
  await untilText(page, '"match": {"outer.ipv4_dst": }');
  await page.keyboard.press("ControlOrMeta+Space");
  await completions(page).getByRole("option", { name: "10.0.0.0/8" }).waitFor();
});

test("names that exist are completed", async () => {
  await cursorAfter(page, '"queue": "');
  await page.keyboard.press("ControlOrMeta+Space");
  await completions(page).getByRole("option", { name: "green" }).waitFor();
  await page.keyboard.type("gr", { delay: 60 });
  // With its place.
  await until(async () =>
    expect(await completions(page).getByRole("option").allInnerTexts()).toEqual(["greenqueues[1]"]),
  );
  await accept();
  await untilText(page, '"queue": "green" }] },');
});

test("an action is written whole, and its name is completed next", async () => {
  await cursorAfter(page, '"table": "blue gets", "actions": [');
  await page.keyboard.press("ControlOrMeta+Space");
  await page.keyboard.type("queu");
  await completions(page).getByRole("option", { name: "queue" }).first().click();
  await untilText(page, '[{ "queue": "" },{');
  await completions(page).getByRole("option", { name: "blue" }).click();
  await untilText(page, '[{ "queue": "blue" }');
});

test("a field is described under the pointer, and by a key", async () => {
  const about = page.locator(".cm-about");
  await until(async () => {
    await page.mouse.move(0, 0);
    await page.getByText('"misc.source_port"').hover();
    await about.getByText("misc.source_port").waitFor({ timeout: 2000 });
  });
  await page.mouse.move(0, 0);
  await about.waitFor({ state: "detached" });
  await cursorAfter(page, "misc.vxl");
  await page.keyboard.press("F2");
  await about.getByText("24 bits").waitFor();
  await page.getByRole("status").getByText("24 bits").waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await about.waitFor({ state: "detached" });
  // A name says which object it is, and a key goes there.
  await cursorAfter(page, '"queue": "blu');
  await page.keyboard.press("F2");
  await about.getByText("queues[0]").waitFor();
  await page.keyboard.press("F12");
  await until(async () =>
    expect(await page.locator(".cm-activeLine").innerText()).toContain('{ "name": "blue", "function"'),
  );
});

test("a repair is one step of the history", async () => {
  await page.getByRole("button", { name: /^Try repair: Register UDP port/ }).click();
  await untilText(page, "vxlanPorts");
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+Z");
  await untilText(page, "vxlanPorts", false);
  await page.getByRole("button", { name: "Redo", exact: true }).click();
  await untilText(page, "vxlanPorts");
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await untilText(page, "vxlanPorts", false);
});

test("what is selected is lit, in the editor and from it", async () => {
  // The frame that the page selects hits one rule.
  await until(async () => expect(await page.locator(".cm-hit").getAttribute("title")).toContain("frame 2"));
  await page.getByRole("button", { name: "net 5002", exact: true }).first().click();
  const lit = page.locator(".cm-object");
  await until(async () => expect((await lit.allInnerTexts()).join("")).toContain('"net 5002"'));
  // The cursor selects for all panes.
  await cursorAfter(page, '"name": "to gree');
  await until(async () => expect((await lit.allInnerTexts()).join("")).toContain('"to green"'));
  await until(async () =>
    expect(await page.getByRole("button", { name: "to green", exact: true, pressed: true }).count()).toBeGreaterThan(0),
  );
});

test("a large document is typed in without stalls", async () => {
  const list = Array.from({ length: 2000 }, (_, i) => ({
    name: `r${i}`,
    table: "root",
    match: { "outer.tcp_dport": i },
    actions: [{ queue: "web" }],
  }));
  const rules = list.map((rule) => `    ${JSON.stringify(rule)}`).join(",\n");
  const text = `{\n  "flowsteer": 1,\n  "queues": [{"name": "web"}],\n  "tables": [{"name": "root", "level": 0}],\n  "rules": [\n${rules}\n  ]\n}\n`;
  const transfer = await page.evaluateHandle((content) => {
    const data = new DataTransfer();
    data.items.add(new File([content], "large.json", { type: "application/json" }));
    return data;
  }, text);
  await editor(page).dispatchEvent("drop", { dataTransfer: transfer });
  await untilText(page, '"r1"');
  await cursorAfter(page, '"name":"r1000');
  const took: number[] = [];
  for (const letter of "a name that is long") {
    const began = performance.now();
    await page.keyboard.type(letter);
    took.push(performance.now() - began);
  }
  await untilText(page, "r1000a name that is long");
  took.sort((a, b) => a - b);
  console.log(
    `a keystroke in ${text.length} bytes: median ${took[took.length >> 1]?.toFixed(1)} ms, longest ${took.at(-1)?.toFixed(1)} ms`,
  );
});

test("axe-core finds nothing where the editor is in use", async () => {
  const { page: other, context } = await playground.open({ script: AXE });
  await editor(other).waitFor();
  await write(other, '{"flowsteer": 1, "queues": [{"name": "web"}], "flows": [{"queue": "wen"}]}');
  await problems(other).waitFor();
  await other.keyboard.press("ControlOrMeta+F");
  await other.getByRole("textbox", { name: "Find", exact: true }).waitFor();
  expect(await violations(other)).toEqual([]);
  await other.getByRole("button", { name: "Examples" }).click();
  await other.getByRole("option").first().waitFor();
  expect(await violations(other)).toEqual([]);
  await context.close();
});

test("find, and format", async () => {
  await editor(page).focus();
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.getByRole("textbox", { name: "Find", exact: true }).pressSequentially("overlay");
  await until(async () => expect(await page.locator(".cm-searchMatch").count()).toBe(4));
  await page.keyboard.press("Enter");
  await until(async () => expect(await page.locator(".cm-searchMatch-selected").count()).toBe(1));
  await page.keyboard.press("Escape");
  await write(page, '{"flowsteer":1,"queues":[{"name":"web"}]}');
  await page.keyboard.press("Shift+Alt+F");
  await untilText(page, '  "queues": [\n    {\n      "name": "web"\n    }\n  ]\n}');
});

test("Tab indents once something was typed, and Escape, then Tab, leaves", async () => {
  const hasFocus = () =>
    editor(page).evaluate((element) => element === document.activeElement?.shadowRoot?.activeElement);
  await page.getByRole("button", { name: "Examples" }).focus();
  await editor(page).focus();
  await page.locator(".cm-tokenLine").getByText("Tab leaves the editor", { exact: true }).waitFor();
  await page.keyboard.press("Tab");
  expect(await hasFocus()).toBe(false);
  await cursorAfter(page, '"flowsteer": 1,');
  await page.keyboard.press("Home");
  await page.keyboard.type(" ");
  await page.keyboard.press("Backspace");
  await page.locator(".cm-tokenLine").getByText("Escape, then Tab, leaves the editor").waitFor();
  await page.keyboard.press("Tab");
  await untilText(page, '\n    "flowsteer": 1');
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await hasFocus()).toBe(false);
});

test("a line below says what stands at the cursor, with the bits that the rule and the frame have", async () => {
  const { page: other, context } = await playground.open();
  await editor(other).waitFor();
  await other.getByRole("heading", { name: "Path of frame 2" }).waitFor();
  await cursorAfter(other, '"misc.vxlan_vni');
  const line = other.locator(".cm-tokenLine");
  await line.getByText(/^misc\.vxlan_vni · .*24 bits/).waitFor();
  await cursorAfter(other, '"outer.ipv4_dst');
  await line.getByText(/^outer\.ipv4_dst · frame 2 has 203\.0\.113\.7/).waitFor();
  await context.close();
});

test("examples, new and files open in place of the rules", async () => {
  const name = page.getByRole("textbox", { name: "Name of the rules" });
  await page.getByRole("button", { name: "Examples" }).focus();
  await page.keyboard.press("Enter");
  const menu = page.getByRole("listbox", { name: "Examples" });
  await menu.getByRole("option").nth(22).waitFor();
  await menu.getByRole("group", { name: "Find out why a frame vanished" }).getByRole("option").first().waitFor();
  await page.keyboard.type("vxlan inner address");
  await expect.poll(() => menu.getByRole("option").count()).toBe(1);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until(async () => expect(await name.inputValue()).toBe("tunnel"));
  await menu.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New", exact: true }).click();
  await untilText(page, '"to the web server"');
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  const file = { name: "mine.json", mimeType: "application/json", buffer: Buffer.from('{"flowsteer": 1}\r\n') };
  await (await choosing).setFiles(file);
  await untilText(page, '{"flowsteer": 1}');
  expect(await name.inputValue()).toBe("mine");
  // The editor keeps the old text in its history.
  await editor(page).focus();
  await page.keyboard.press("ControlOrMeta+Z");
  await untilText(page, '"to the web server"');
  await drop("dropped.json", '{"flowsteer": 1, "title": "dropped"}');
  await untilText(page, '"dropped"');
  expect(await name.inputValue()).toBe("dropped");
});

/** Drops a file on the editor. */
async function drop(name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file = "", content = ""]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], file, { type: "application/json" }));
      return data;
    },
    [name, text],
  );
  await editor(page).dispatchEvent("drop", { dataTransfer: transfer });
}

/** The selected text in the editor. */
function selected(): Promise<string> {
  return editor(page).evaluate((element) => {
    const root = element.getRootNode() as ShadowRoot & { getSelection?: () => Selection | null };
    return String(root.getSelection?.() ?? "");
  });
}
