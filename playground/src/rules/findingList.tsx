/** What is wrong with the rules, below the editor: each goes to its place, and is mended by a button. */
import type { JSX } from "preact";
import { counted } from "../parts/format.js";
import { written } from "../state/document.js";
import { applyFix, findings, fixesOf, provedIsOld, rangeOfFinding, type Finding } from "../state/findings.js";
import { PortChoice } from "./reading.js";

/** More of them are not read. */
const MAX = 100;
const SEVERITIES = ["error", "warning", "note"] as const;
const MARKS = { error: "✕ error", warning: "▲ warning", note: "i note" } as const;

/** `2 errors, 1 warning, 1 note`; empty for none. */
export function countText(list: readonly Finding[]): string {
  return SEVERITIES.flatMap((one) => {
    const count = list.filter(({ severity }) => severity === one).length;
    return count === 0 ? [] : [counted(count, one)];
  }).join(", ");
}

export function FindingList({ onGo }: { readonly onGo: (finding: Finding) => void }): JSX.Element | null {
  const list = findings.value;
  if (list.length === 0) return null;
  const text = written.peek();
  const old = provedIsOld.value;
  return (
    <section class="findings" aria-label="Problems in the rules" data-old={old}>
      <h3>
        {countText(list)} <span class="muted">{old ? "before the last edit" : "F8 goes to the next one"}</span>
      </h3>
      <ul>
        {list.slice(0, MAX).map((finding, i) => (
          <li key={i} data-severity={finding.severity}>
            <button type="button" class="finding" onClick={() => onGo(finding)}>
              <span class="finding-mark">{MARKS[finding.severity]}</span>
              <span class="mono muted">{placeText(text, finding)}</span>
              <span class="finding-text">{finding.text}</span>
              {finding.hint !== null && <span class="finding-hint">{finding.hint}</span>}
            </button>
            {finding.port !== undefined && <PortChoice port={finding.port} />}
            {finding.fixes.map((fix) => (
              <button
                type="button"
                key={fix.title}
                disabled={!fixesOf(finding).includes(fix)}
                onClick={() => applyFix(fix)}
              >
                {fix.title}
              </button>
            ))}
          </li>
        ))}
      </ul>
      {list.length > MAX && <p class="muted">{counted(list.length - MAX, "more problem")}</p>}
    </section>
  );
}

/** `line 12, rules[0].match`. */
function placeText(text: string, finding: Finding): string {
  const range = rangeOfFinding(text, finding);
  const path = finding.path !== null && !finding.path.includes("line ") ? finding.path : "";
  if (range === null) return path;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < range.from; at = text.indexOf("\n", at + 1)) line++;
  return `line ${line}${path === "" ? "" : ` ${path}`}`;
}
