/** The example of the front page: a packet in notation, two rules, and the answer. */
import { openExplainer, printExplanation } from "flowsteer/explain";
import { buildFrame, parsePacket } from "flowsteer/packet";
import { loadScenario } from "flowsteer/scenario";

const RULES = {
  flowsteer: 1,
  queues: [{ name: "blue" }, { name: "green" }],
  tables: [{ name: "overlay", level: 0 }],
  rules: [
    { name: "net 5001", table: "overlay", match: { "misc.vxlan_vni": 5001 }, actions: [{ queue: "blue" }] },
    { name: "net 5002", table: "overlay", match: { "misc.vxlan_vni": 5002 }, actions: [{ queue: "green" }] },
  ],
};

const core = new URL("./playground/traced.wasm", import.meta.url);
const { device } = await loadScenario(RULES, { core });
const explainer = await openExplainer(device, { core });
const packet = element("packet", HTMLInputElement);
const verdict = element("verdict", HTMLElement);
const explanation = element("explanation", HTMLElement);

function answer(): void {
  try {
    const { layers, linkType } = parsePacket(packet.value);
    const frame = buildFrame(layers);
    const outcome = device.receive(1, frame, { linkType });
    const to = outcome.to.map(({ name }) => name.replace(/^qp:/, "queue ")).join(", ");
    verdict.textContent = to === "" ? `Not delivered: ${outcome.verdict}` : `Delivered to ${to}`;
    explanation.textContent = printExplanation(explainer.why(1, frame, { kind: "end" }, { linkType }));
  } catch (error) {
    verdict.textContent = "Not a packet yet";
    explanation.textContent = error instanceof Error ? error.message : String(error);
  }
}

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no #${id}`);
  return found;
}

packet.addEventListener("input", answer);
answer();
