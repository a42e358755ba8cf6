/** The dialog "Import rules": a text of another program, the scenario that it becomes, and what was not carried over. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog } from "../../parts/dialog.js";
import type { ViewProps } from "../../parts/viewProps.js";
import { openRules } from "../../state/document.js";
import type { Imported } from "./api.js";
import { asked } from "./client.js";
import { importSource } from "./source.js";

/** Findings that are listed; more are counted. */
const LISTED = 200;

export function ImportDialog({ onClose }: ViewProps): JSX.Element {
  const text = useSignal(importSource.peek().text);
  const found = useSignal<Imported | null>(null);
  const said = useSignal("");
  const read = async (): Promise<void> => {
    said.value = "Reading.";
    found.value = null;
    try {
      found.value = await asked((importer) => importer.read(text.peek(), importSource.peek().file));
      said.value = "";
    } catch (error) {
      said.value = error instanceof Error ? error.message : String(error);
    }
  };
  useEffect(() => {
    if (text.peek() !== "") void read();
  }, []);
  const open = (): void => {
    if (found.value === null) return;
    openRules(found.value.text, importSource.peek().file.replace(/\.\w+$/, ""));
    onClose();
  };
  return (
    <Dialog title="Import rules" class="import-rules" onClose={onClose}>
      <p>
        Paste what a device or another program has: a steering dump, commands of testpmd, tc or ethtool, flows of Open
        vSwitch, nftables, ip xfrm, ClassBench, a recording. It stays on this machine.
      </p>
      <textarea
        class="mono"
        aria-label="Rules of another program"
        rows={8}
        spellcheck={false}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <p class="import-do">
        <button type="button" disabled={text.value.trim() === ""} onClick={() => void read()}>
          Import
        </button>
        <button type="button" class="main" disabled={(found.value?.rules ?? 0) === 0} onClick={open}>
          Open as rules
        </button>
      </p>
      <p role="status" aria-live="polite">
        {found.value === null ? said.value : sentenceOf(found.value)}
      </p>
      {found.value !== null && <FindingsOf {...found.value} />}
    </Dialog>
  );
}

function sentenceOf({ rules, findings }: Imported): string {
  const refused = findings.filter(({ severity }) => severity === "refused").length;
  const made = rules === 1 ? "1 rule" : `${rules} rules`;
  const left = refused === 1 ? "1 element was not imported" : `${refused} elements were not imported`;
  return refused === 0 ? `${made}; everything was imported.` : `${made}; ${left}.`;
}

function FindingsOf({ findings }: Imported): JSX.Element | null {
  if (findings.length === 0) return null;
  const listed = findings.slice(0, LISTED);
  return (
    <ul class="import-findings" tabIndex={0} aria-label="What was not imported, and what was assumed">
      {listed.map(({ line, column, severity, text, reason }, n) => (
        <li key={n}>
          <span class="mono">
            {line}:{column}
          </span>{" "}
          {severity === "refused" ? "not imported" : "assumed"}: <span class="mono">{text}</span>: {reason}
        </li>
      ))}
      {findings.length > LISTED && <li>and {findings.length - LISTED} more</li>}
    </ul>
  );
}
