/** What must work on the page in every browser, in this order: each check goes on where the one before ended. */
/* global CompressionStream, DataTransfer, DragEvent, File, Response, document, getComputedStyle, indexedDB, probe */
import assert from "node:assert/strict";
import { encodeLink } from "../../playground/src/state/link.js";
import { KEYS } from "./session.mjs";

/** Rules of a link: every frame goes to one queue. */
const LINKED = `{"flowsteer":1,"queues":[{"name":"from-link"}],"tables":[{"name":"root","level":0}],"rules":[{"name":"all","table":"root","actions":[{"queue":"from-link"}]}],"frames":[{"headers":[{"header":"ethernet"},{"header":"ipv4"},{"header":"udp"}]}]}`;

const TESTPMD = `# tenants
flow create 0 ingress pattern eth / ipv4 dst is 127.0.0.1 / tcp dst is 443 / end actions queue index 3 / end
`;

export const CHECKS = {
  "the example is answered": async (session, url) => {
    await session.open(url);
    await session.until("rows of frames", () => probe.all("[role=grid] [data-place]").length > 0);
    await session.until("a verdict", () => /deliver|miss|drop|forward/.test(probe.text("[data-place]")));
    await session.until("no errors", () => probe.find(".health")?.textContent.includes("0 errors"));
    const colour = await session.run(() => getComputedStyle(document.body).backgroundColor);
    assert.match(colour, /^rgb\(255, 255, 255\)|color\(srgb 1 1 1\)$/, "light-dark() of the tokens");
  },

  "an error is marked where it was typed": async (session) => {
    // The first touch loads the editor.
    await session.click(".still-rules, .cm-line");
    await session.click(".cm-line");
    await session.press(KEYS.home, KEYS.control);
    await session.press("x");
    await session.until("the error in the bar", () => probe.find(".health")?.textContent.includes("1 error"));
    await session.until("the mark in the text", () => probe.find(".cm-lintRange-error, .cm-lintPoint-error"));
    await session.press("z", KEYS.control);
    await session.until("no errors again", () => probe.find(".health")?.textContent.includes("0 errors"));
  },

  "completion offers keys": async (session) => {
    await session.press(KEYS.end, KEYS.control);
    await session.press(" ", KEYS.control);
    // At the end of the text there is nothing to offer: the first brace has keys.
    await session.press(KEYS.home, KEYS.control);
    await session.press("\ue014");
    await session.press(" ", KEYS.control);
    await session.until("a list of keys", () => probe.find(".cm-tooltip-autocomplete li"));
    await session.press(KEYS.escape);
  },

  "a frame is selected by mouse, and explained": async (session) => {
    await session.click("[data-place='1']");
    await session.until("its way", () => probe.find("#pane-way")?.textContent === "Path of frame 2");
    await session.until("why", () => probe.find(".why-answer")?.textContent.length > 20);
    await session.until("the picture", () => probe.find(".place-way svg"));
    await session.until("bytes", () => /[0-9a-f]{2}/.test(probe.find(".bytes")?.textContent ?? ""));
  },

  "steps and frames by key": async (session) => {
    const step = () => session.run(() => Number(/step (\d+)/.exec(probe.text(".stepper"))[1]));
    const before = await step();
    await session.press(before === 1 ? "n" : "p");
    const after = before === 1 ? 2 : before - 1;
    await session.until("the other step", (n) => probe.text(".stepper").includes(`step ${n} of`), [after]);
    await session.press("k");
    await session.until("the frame above", () => probe.find("#pane-way")?.textContent === "Path of frame 1");
  },

  "a capture is dropped": async (session) => {
    await session.run(dropCapture, "everyday.pcap");
    await session.until("its name", () => probe.find(".capture-name")?.textContent === "everyday.pcap");
    await session.until("its frames", () => Number(probe.text(".frames-count").match(/\d+/)?.[0]) > 10);
  },

  "a capture with gzip is dropped": async (session) => {
    const before = await session.run(() => probe.text(".frames-count"));
    await session.run(dropCapture, "everyday.pcap.gz");
    await session.until("its name", () => probe.find(".capture-name")?.textContent === "everyday.pcap.gz");
    await session.until("the same frames", (text) => probe.text(".frames-count") === text, [before]);
  },

  "totals are counted": async (session) => {
    await session.until("totals", () => /deliver|miss|drop/.test(probe.text(".place-totals")));
  },

  "work survives a reload": async (session, url) => {
    await session.until("the work in IndexedDB", keptCapture);
    await session.open(`${url}?again`);
    await session.until("the capture again", () => probe.find(".capture-name")?.textContent === "everyday.pcap.gz");
  },

  "a shared link opens": async (session, url) => {
    const shared = { rules: LINKED, name: "linked", frame: 1, step: 0, path: null, field: null, filter: {} };
    const link = await encodeLink({ ...shared, capture: null, left: null });
    await session.open(`${url}?link${link}`);
    await session.until("the queue of the link", () => probe.text("[data-place]").includes("from-link"));
  },

  "testpmd rules are mended in their own words, undone, and shared": async (session, url) => {
    await session.open(`${url}?journey`);
    await session.until("rows of frames", () => probe.all("[role=grid] [data-place]").length > 0);
    await session.run(dropRules, TESTPMD);
    await session.until("the text as it is", () => probe.text(".cm-line").includes("# tenants"));
    await session.run(dropCapture, "everyday.pcap");
    await session.until("its frames", () => probe.text(".frames-count").startsWith("86"));
    await session.click("[data-place='3']");
    await session.click("button", 'Try repair: own.testpmd:2: change "tcp dst is 443"');
    await session.until("the mended text", () => probe.text(".cm-line").includes("tcp dst is 80"));
    await session.click(".rules-tools button", "Undo");
    await session.until("the text of before", () => probe.text(".cm-line").includes("tcp dst is 443"));
    await session.click("button", "Share");
    await session.until("the link", () => probe.find(".share-link input")?.value.includes("#"));
    const link = await session.run(() => probe.find(".share-link input").value);
    await session.open(`${url}?elsewhere${link.slice(link.indexOf("#"))}`);
    await session.until("the same text", (text) => probe.text(".cm-line, .still-line").includes(text), [
      TESTPMD.split("\n")[1],
    ]);
  },

  "the theme is switched": async (session) => {
    const colour = () => session.run(() => getComputedStyle(document.body).backgroundColor);
    const before = await colour();
    await session.click("button", "Theme");
    await session.click("[role=menuitemradio], [role=menuitem]", "Dark theme");
    await session.until("dark", (light) => getComputedStyle(document.body).backgroundColor !== light, [before]);
    await session.click("button", "Theme");
    await session.click("[role=menuitemradio], [role=menuitem]", "System theme");
    await session.until("light", (light) => getComputedStyle(document.body).backgroundColor === light, [before]);
  },

  "palette and dialogs open by key": async (session) => {
    await session.press("k", KEYS.control);
    await session.until("the palette", () => probe.find("dialog[open] input"));
    await session.press(KEYS.escape);
    await session.until("no palette", () => probe.find("dialog[open]") === undefined);
  },

  "the speed page gives every suite": async (session, url) => {
    await session.open(`${url}speed.html?quick`);
    await session.click("button", "Measure");
    await session.until("the end", () => /Done\.|Failed:.*/.exec(document.body.innerText), [], 580);
    assert.match(await session.run(() => document.body.innerText), /Done\. All answers equal/);
    for (const suite of ["Parse", "Classify", "Frames", "ESP"]) {
      const rows = await session.run((name) => probe.all(`[aria-label="Figures: ${name}"] tr`).length, suite);
      assert.ok(rows > 2, `${suite} has ${rows} rows`);
    }
  },
};

/** Runs in the page: drops a capture of the examples, compressed if its name says so. */
async function dropCapture(name) {
  const response = await fetch(`./examples/${name.replace(/\.gz$/, "")}`);
  const bytes = name.endsWith(".gz") ? response.body.pipeThrough(new CompressionStream("gzip")) : response.body;
  const data = new DataTransfer();
  data.items.add(new File([await new Response(bytes).blob()], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}

/** Runs in the page: drops rules of testpmd on the editor. */
function dropRules(text) {
  const data = new DataTransfer();
  data.items.add(new File([text], "own.testpmd"));
  const pane = document.querySelector(".pane.rules");
  pane.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}

/** Runs in the page: whether IndexedDB has the capture. */
function keptCapture() {
  return new Promise((resolve) => {
    const opening = indexedDB.open("flowsteer-playground");
    opening.onerror = () => resolve(false);
    opening.onsuccess = () => {
      const request = opening.result.transaction("work").objectStore("work").getAll();
      request.onsuccess = () => {
        opening.result.close();
        resolve(JSON.stringify(request.result).includes("everyday.pcap.gz"));
      };
    };
  });
}
