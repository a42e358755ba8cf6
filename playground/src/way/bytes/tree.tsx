/** Headers and their fields as a tree. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { keepInView } from "../keepInView.js";
import { filterNameOf, type TreeField, type TreeNode } from "flowsteer/packet";
import { selectedBytes } from "../../state/selection.js";
import { bytes } from "../view.js";
import type { Mark } from "./bytesAt.js";
import { bytesOf } from "./fields.js";
import { headerSummary } from "./headerSummary.js";
import { isPicked, picked, pickField } from "./selection.js";

/** Headers that the person has opened or closed, by place and name. */
const opened = signal<ReadonlyMap<string, boolean>>(new Map());
/** The item that Tab goes to. */
const current = signal("0");

export function HeaderTree(): JSX.Element | null {
  const view = useRef<HTMLDivElement>(null);
  const shown = bytes.value;
  const extent = picked.value;
  useLayoutEffect(() => {
    const element = view.current;
    const item = element?.querySelector<HTMLElement>('.field-line[aria-selected="true"]');
    if (element !== null && item !== null && item !== undefined) keepInView(element, item);
  }, [extent?.offset, extent?.bit, shown]);
  if (shown === null) return null;
  const { tree, marks } = shown;
  return (
    <div class="headers" ref={view}>
      <div role="tree" aria-label="Headers" onKeyDown={onKey}>
        {tree.nodes.map((node, i) => (
          <Header key={`${i} ${node.header}`} node={node} index={i} marks={marks} />
        ))}
      </div>
      {tree.stopped !== null && (
        <p class="muted">
          Parsing stopped in {tree.stopped.header} at {tree.stopped.field}: {tree.stopped.reason.replaceAll("_", " ")}.
        </p>
      )}
    </div>
  );
}

interface HeaderProps {
  readonly node: TreeNode;
  readonly index: number;
  readonly marks: readonly Mark[];
}

function Header({ node, index, marks }: HeaderProps): JSX.Element {
  const key = `${index} ${node.header}`;
  const changed = touches(marks, node.offset, node.length);
  const holds = node.fields.some((field) => isPicked(field));
  const open = opened.value.get(key) ?? (changed || holds);
  const id = String(index);
  const toggle = (): void => {
    opened.value = new Map(opened.peek()).set(key, !open);
  };
  // Fields stand beside their header, not in it: they are no part of its name.
  return (
    <>
      <div
        role="treeitem"
        aria-level={1}
        aria-expanded={open}
        aria-selected={holds && !open}
        tabIndex={current.value === id ? 0 : -1}
        data-item={id}
        data-level={node.level}
        data-filters={filterNameOf(node.header) ?? undefined}
        onFocus={() => void (current.value = id)}
      >
        <div class="header-line" data-changed={changed || undefined} onClick={toggle}>
          <span class="twisty" aria-hidden="true">
            {open ? "▾" : "▸"}
          </span>
          <span class="offset mono" aria-hidden="true">
            {node.offset}
          </span>
          <span class="header-name mono">{node.header}</span>
          <span class="header-summary mono">{headerSummary(node)}</span>
          {changed && <span class="changed-mark">changed</span>}
        </div>
      </div>
      {open &&
        node.fields.map((field, i) => <Field key={i} node={node} field={field} id={`${id}.${i}`} marks={marks} />)}
    </>
  );
}

interface FieldProps {
  readonly node: TreeNode;
  readonly field: TreeField;
  readonly id: string;
  readonly marks: readonly Mark[];
}

function Field({ node, field, id, marks }: FieldProps): JSX.Element {
  const { offset, length } = bytesOf(field);
  const selected = isPicked(field) || (picked.value === null && isSelected(offset, length));
  const changed = touches(marks, offset, length);
  const wrong = field.right === false;
  return (
    <div
      role="treeitem"
      aria-level={2}
      class="field-line"
      aria-selected={selected}
      tabIndex={current.value === id ? 0 : -1}
      data-item={id}
      data-filters=""
      data-changed={changed || undefined}
      onFocus={() => void (current.value = id)}
      onClick={() => pickField({ node, field })}
    >
      <span class="field-name mono">{field.name}</span> <span class="mono field-value">{field.text}</span>
      {wrong && <span class="wrong">wrong</span>}
      {changed && <span class="visually-hidden">, changed</span>}
    </div>
  );
}

function isSelected(offset: number, length: number): boolean {
  const range = selectedBytes.value;
  return range !== null && offset < range.offset + range.length && range.offset < offset + length;
}

function touches(marks: readonly Mark[], offset: number, length: number): boolean {
  return marks.some((mark) => mark.offset < offset + length && offset < mark.offset + mark.length);
}

function onKey(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-item]")];
  const at = items.findIndex((one) => one === document.activeElement);
  const item = items[at];
  if (item === undefined) return;
  const expanded = item.getAttribute("aria-expanded");
  const parent = (): HTMLElement | undefined =>
    items.find((one) => one.dataset["item"] === item.dataset["item"]?.split(".")[0]);
  const press = (): void => item.querySelector<HTMLElement>(".header-line")?.click() ?? item.click();
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => items[at + 1]?.focus(),
    ArrowUp: () => items[at - 1]?.focus(),
    Home: () => items[0]?.focus(),
    End: () => items.at(-1)?.focus(),
    ArrowRight: () => (expanded === "false" ? press() : items[at + 1]?.focus()),
    ArrowLeft: () => (expanded === "true" ? press() : parent()?.focus()),
    Enter: press,
    " ": press,
  };
  const move = moves[event.key];
  if (move === undefined) return;
  event.preventDefault();
  move();
}
