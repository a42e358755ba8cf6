/** Opens documents: an empty one, and files of the machine. */
import { openRules, openSource } from "../state/document.js";
import { isSourceText } from "../importing/recognition.js";
import { notify } from "../state/notices.js";
import { bytesText } from "../parts/format.js";

/** Scenarios, and rules of other programs. */
const SUFFIXES = [
  ".json",
  ".testpmd",
  ".tc",
  ".nft",
  ".ovs",
  ".jsonl",
  ".csv",
  ".txt",
  ".sh",
  ".conf",
  ".log",
  ".rules",
  ".flows",
  ".cmd",
];

/** Longer files are no scenarios. */
const MAX_LENGTH = 20_000_000;

/** A scenario with nothing but a place to begin. */
const EMPTY = `{
  "flowsteer": 1,
  "queues": [{ "name": "web" }],
  "tables": [{ "name": "root", "level": 0 }],
  "rules": [
    {
      "name": "http",
      "table": "root",
      "match": { "outer.tcp_dport": 80 },
      "actions": [{ "queue": "web" }]
    }
  ],
  "frames": [
    {
      "name": "to the web server",
      "headers": [
        { "header": "ethernet" },
        { "header": "ipv4", "source": "192.0.2.1", "destination": "198.51.100.1" },
        { "header": "tcp", "destination_port": 80 }
      ]
    }
  ]
}
`;

/** Opens a new scenario: one rule, and one frame that it takes. */
export function openNew(): void {
  openRules(EMPTY, "untitled");
}

/** Opens a scenario file. */
export async function openScenarioFile(file: File): Promise<void> {
  if (file.size > MAX_LENGTH) {
    notify({ id: "rules-file", text: `${file.name} has ${bytesText(file.size)}: too much for a scenario.` });
    return;
  }
  try {
    const text = await file.text();
    if (isSourceText(text)) openSource(text, file.name);
    else openRules(text, file.name.replace(/\.json$/i, ""));
  } catch (error) {
    notify({ id: "rules-file", text: `${file.name} could not be read: ${String(error)}` });
  }
}

/** Asks for a file. */
export function chooseScenarioFile(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = `${SUFFIXES.join(",")},application/json,text/*`;
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    if (file !== undefined) void openScenarioFile(file);
  });
  input.click();
}

/** The scenario among dropped files; undefined for captures and others. */
export function droppedScenario(transfer: DataTransfer | null): File | undefined {
  return [...(transfer?.files ?? [])].find(
    ({ name, type }) =>
      type === "application/json" ||
      type.startsWith("text/") ||
      SUFFIXES.some((one) => name.toLowerCase().endsWith(one)),
  );
}
