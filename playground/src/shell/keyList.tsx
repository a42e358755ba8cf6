/** All keys. */
import type { JSX } from "preact";
import { Dialog } from "../parts/dialog.js";
import { commands, type Command } from "../state/commands.js";
import type { ViewProps } from "../parts/viewProps.js";

/** Parts of the page by the beginning of their commands' ids, in the order of the list. */
const PARTS: readonly (readonly [string, string])[] = [
  ["page", "Page"],
  ["rules", "Rules"],
  ["frames", "Frames"],
  ["way", "Path"],
  ["totals", "Totals"],
];

export function KeyList({ onClose }: ViewProps): JSX.Element {
  return (
    <Dialog title="Keys" class="keys" onClose={onClose}>
      <KeyTables />
      <p class="muted">Keys without Ctrl do nothing while text is edited. Escape leaves the editor.</p>
    </Dialog>
  );
}

export function KeyTables(): JSX.Element {
  const keyed = commands.value.filter(({ key }) => key !== undefined);
  const isOf = (command: Command, part: string): boolean => command.id.startsWith(`${part}.`);
  const others = keyed.filter((command) => !PARTS.some(([part]) => isOf(command, part)));
  const groups = [
    ...PARTS.map(([part, title]) => ({ title, all: keyed.filter((command) => isOf(command, part)) })),
    { title: "More", all: others },
  ];
  return (
    <div class="key-tables">
      {groups.map(({ title, all }) => all.length > 0 && <Group key={title} title={title} all={all} />)}
    </div>
  );
}

function Group({ title, all }: { readonly title: string; readonly all: readonly Command[] }): JSX.Element {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {all.map(({ id, title: what, key }) => (
          <div key={id}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
