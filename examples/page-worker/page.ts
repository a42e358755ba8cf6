// The page: builds frames, gives them to the worker, and lists the verdicts.
//
//     esbuild page.ts worker.ts --bundle --format=esm --splitting --outdir=out
//     cp index.html node_modules/flowsteer/dist/core.wasm out/
import { buildFrame } from "flowsteer/packet";
import type { Question, Reply } from "./worker.js";

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
const [port, send, answers] = ["port", "send", "answers"].map((id) => document.getElementById(id)) as [
  HTMLInputElement,
  HTMLButtonElement,
  HTMLOListElement,
];

const show = (text: string): void => {
  answers.appendChild(document.createElement("li")).textContent = text;
};

send.onclick = () => {
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
    { header: "tcp", destination_port: Number(port.value) },
  ]);
  // The bytes move to the worker; the page keeps none of them.
  worker.postMessage({ port: 1, frames: [frame] } satisfies Question, [frame.buffer]);
};
worker.onmessage = ({ data }: MessageEvent<Reply>) => {
  if (typeof data === "string") show(`the worker failed: ${data}`);
  else for (const { verdict, reason, to } of data) show([verdict, ...(to.length > 0 ? to : [reason])].join(" "));
};
