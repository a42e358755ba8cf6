/** How the text of another program is read: format, driver, device profile, and what its ports are on the device. */
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Choices, SourceOptions } from "../importing/api.js";
import { choices } from "../importing/client.js";
import { source } from "../state/document.js";
import { findings } from "../state/findings.js";
import { imported } from "../state/imported.js";

/** What a port of a text can be: the wire, and functions. More VFs than these are chosen once the text has as many ports. */
const VFS = 8;

const known = signal<Choices>({ formats: [], drivers: [], profiles: [] });

export function Reading(): JSX.Element | null {
  const of = source.value;
  const isOpen = of !== null;
  useEffect(() => {
    if (isOpen && known.peek().formats.length === 0) void choices().then((all) => (known.value = all));
  }, [isOpen]);
  if (of === null) return null;
  const { format, driver, profile } = of.options;
  const { formats, drivers, profiles } = known.value;
  const found = imported.value?.format;
  return (
    <details class="reading">
      <summary>{summaryOf(of.options, found ?? null)}</summary>
      <div class="reading-choices">
        <Choice
          title="Format"
          value={format}
          unset={found === null || found === undefined ? "recognized" : `recognized: ${found}`}
          all={formats}
          onChoose={(to) => change({ format: to })}
        />
        <Choice
          title="Driver"
          value={driver}
          unset="of the format"
          all={drivers}
          onChoose={(to) => change({ driver: to })}
        />
        <Choice
          title="Device"
          value={profile}
          unset="default"
          all={profiles}
          onChoose={(to) => change({ profile: to })}
        />
        {portsOf(of.options).map((port) => (
          <PortChoice key={port} port={port} />
        ))}
      </div>
    </details>
  );
}

/** What a port or interface of the text is on the device. */
export function PortChoice({ port }: { readonly port: string }): JSX.Element | null {
  const of = source.value;
  if (of === null) return null;
  const { map } = of.options;
  const set = (to: string | null): void => {
    const { [port]: _, ...others } = map;
    change({ map: to === null ? others : { ...others, [port]: to } });
  };
  const vfs = Array.from({ length: Math.max(VFS, portsOf(of.options).length) }, (_, n) => `vf${n + 1}`);
  return (
    <Choice
      title={<span class="mono">{port}</span>}
      value={map[port] ?? null}
      unset="default"
      all={["uplink", "pf", ...vfs, "port2"]}
      onChoose={set}
    />
  );
}

interface ChoiceProps<T extends string> {
  readonly title: ComponentChildren;
  /** Null where nothing is chosen. */
  readonly value: T | null;
  readonly unset: string;
  readonly all: readonly T[];
  readonly onChoose: (value: T | null) => void;
}

function Choice<T extends string>({ title, value, unset, all, onChoose }: ChoiceProps<T>): JSX.Element {
  const shown = value === null || all.includes(value) ? all : [value, ...all];
  return (
    <label class="choice">
      {title}{" "}
      <select
        value={value ?? ""}
        onChange={({ currentTarget }) => onChoose(shown.find((one) => one === currentTarget.value) ?? null)}
      >
        <option value="">{unset}</option>
        {shown.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function change(to: Partial<SourceOptions>): void {
  const of = source.peek();
  if (of !== null) source.value = { ...of, options: { ...of.options, ...to } };
}

/** Ports that were assumed to be something, and those that are chosen. */
function portsOf({ map }: SourceOptions): string[] {
  return [...new Set([...Object.keys(map), ...findings.value.flatMap(({ port }) => port ?? [])])].sort();
}

/** `Read as testpmd, driver mlx5-pmd-hws, port1 is vf2`. */
function summaryOf({ format, driver, profile, map }: SourceOptions, found: string | null): string {
  const parts = [
    `Read as ${format ?? found ?? "unknown text"}`,
    ...(driver === null ? [] : [`driver ${driver}`]),
    ...(profile === null ? [] : [`device ${profile}`]),
    ...Object.entries(map).map(([port, to]) => `${port} is ${to}`),
  ];
  return parts.join(", ");
}
