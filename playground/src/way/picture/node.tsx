/** A node of the picture: a table with its rules, or an end. */
import type { JSX } from "preact";
import { countText } from "../../parts/format.js";
import { SHAPES } from "../../parts/verdict.js";
import { selectedPath, selectedStep, way } from "../../state/selection.js";
import { isNear, route, selectRule, showMoreRules } from "../view.js";
import { onPress, tabIndexOf } from "./focus.js";
import { fitted, HEAD, moreText, ROW } from "./graph.js";
import type { PlacedNode } from "./boxes.js";
import { DROPPED, MISSED } from "./route.js";
import type { Row } from "./rows.js";

export function Node({ box }: { readonly box: PlacedNode }): JSX.Element {
  return box.node.kind === "table" ? <Table box={box} /> : <Plain box={box} />;
}

function Table({ box: { node, x, y, width, height } }: { readonly box: PlacedNode }): JSX.Element {
  const found = route.value;
  const on = found?.hops.some(({ to }) => to.node === node.id) ?? false;
  const here = found?.places[selectedStep.value]?.node === node.id;
  const { path } = node;
  return (
    <g
      class="table-node"
      role="group"
      aria-label={`Table ${node.title}`}
      transform={`translate(${x} ${y})`}
      data-on={on || undefined}
      data-here={here || undefined}
    >
      <rect class="box" width={width} height={height} rx="4" />
      <Pressable
        label={`table ${node.title}`}
        focusKey={node.id}
        pressed={path !== null && selectedPath.value === path}
        onPress={path === null ? null : () => void (selectedPath.value = path)}
      >
        <rect class="hit" width={width} height={HEAD} rx="4" />
        <text class="title" x="8" y="15">
          {fitted(node.title, width)}
        </text>
      </Pressable>
      <path class="rule-line" d={`M0 ${HEAD}H${width}`} />
      {node.rows.map((row, i) => (
        <g key={row.key} transform={`translate(0 ${HEAD + ROW * i})`}>
          <TableRow table={node.id} row={row} width={width} empty={node.rows.length === 1} />
        </g>
      ))}
    </g>
  );
}

interface TableRowProps {
  readonly table: string;
  readonly row: Row;
  readonly width: number;
  /** Whether the table has no rules. */
  readonly empty: boolean;
}

function TableRow({ table, row, width, empty }: TableRowProps): JSX.Element {
  const hit = route.value?.hops.find(({ to }) => to.node === table && to.row === row.key);
  const later = hit !== undefined && hit.step > selectedStep.value;
  const state = { "data-hit": hit !== undefined || undefined, "data-later": later || undefined };
  if (row.kind === "miss") {
    return (
      <g class="row miss-row" {...state}>
        <rect class="hit" width={width} height={ROW} />
        <text x="8" y="13">
          {empty ? "no rules" : "no match"}
        </text>
      </g>
    );
  }
  if (row.kind === "more") {
    return (
      <Pressable
        label={`Show more of ${countText(row.count)} hidden rules`}
        focusKey={`${table} more`}
        onPress={() => showMoreRules(table)}
      >
        <g class="row more-row">
          <rect class="hit" width={width} height={ROW} />
          <text x="8" y="13">
            {moreText(row.count)}
          </text>
        </g>
      </Pressable>
    );
  }
  const { rule } = row;
  const match = rule.match.map(({ field, value }) => `${field} = ${value}`).join(", ") || "every frame";
  const near = isNear(row.key);
  return (
    <Pressable
      label={`${rule.kind} ${rule.name}${hit === undefined ? "" : ", hit"}`}
      focusKey={`${table} ${row.key}`}
      pressed={selectedPath.value === rule.path}
      onPress={() => selectRule(rule.path)}
      isRule
    >
      <g class="row" {...state} data-near={near || undefined}>
        <title>{`${rule.name}, priority ${rule.priority}\n${match}\n→ ${rule.actions.join(", ")}`}</title>
        <rect class="hit" width={width} height={ROW} />
        <text x="8" y="13">
          {fitted(rule.name, width)}
        </text>
      </g>
    </Pressable>
  );
}

interface PressableProps {
  readonly label: string;
  readonly focusKey: string;
  readonly pressed?: boolean;
  /** Null where there is nothing to select. */
  readonly onPress: (() => void) | null;
  /** Whether frames can be filtered by it. */
  readonly isRule?: boolean;
  readonly children: JSX.Element | JSX.Element[];
}

function Pressable({ label, focusKey, pressed, onPress: run, isRule, children }: PressableProps): JSX.Element {
  if (run === null) return <g>{children}</g>;
  return (
    <g
      class="pressable"
      role="button"
      aria-label={label}
      aria-pressed={pressed}
      tabIndex={tabIndexOf(focusKey)}
      data-focus-key={focusKey}
      data-filters={isRule ? "" : undefined}
      {...onPress(focusKey, run)}
    >
      {children}
    </g>
  );
}

/** Ports where frames come in, queues and ports where they end, drop and miss. */
function Plain({ box: { node, x, y, width, height } }: { readonly box: PlacedNode }): JSX.Element {
  const found = route.value;
  const on = found?.hops.some(({ from, to }) => to.node === node.id || from.node === node.id) ?? false;
  const end = found?.ends.find((one) => one.node === node.id);
  const copy = end === undefined && (found?.hops.some((hop) => hop.to.node === node.id && hop.copy) ?? false);
  const verdict = end?.verdict ?? (node.id === DROPPED ? "drop" : node.id === MISSED ? "miss" : undefined);
  const shape = verdict !== undefined ? `${SHAPES[verdict]} ` : copy ? "⧉ " : "";
  const said = verdict === undefined || verdict === node.title ? "" : ` ${verdict}`;
  const { path } = node;
  return (
    <g transform={`translate(${x} ${y})`}>
      <Pressable
        label={`${node.title}${said === "" ? "" : `,${said}`}`}
        focusKey={node.id}
        pressed={path !== null && selectedPath.value === path}
        onPress={path === null ? null : () => void (selectedPath.value = path)}
      >
        <g
          class="end-node"
          data-kind={node.kind}
          data-on={on || undefined}
          data-verdict={on ? verdict : undefined}
          data-copy={copy || undefined}
        >
          <title>{endTitle(node.title)}</title>
          <rect class="box" width={width} height={height} rx="11" />
          <text x={width / 2} y="15" text-anchor="middle">
            {fitted(`${shape}${node.title}`, width)}
          </text>
        </g>
      </Pressable>
    </g>
  );
}

function endTitle(title: string): string {
  const bytes = way.value?.trace.outcome.to.find(({ name }) => name === title)?.frame.length;
  return bytes === undefined ? title : `${title}, ${bytes / 2} bytes`;
}
