/** The packet as a list of headers: add, remove, reorder, and the fields of each. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { packetFields, packetHeaders, type FrameTree, type PacketField } from "flowsteer/packet";
import { Field } from "./field.js";
import type { FormLayer, PacketModel } from "./model.js";

/** Fields that are shown at once; the others after "More fields". */
const MAIN = new Set(
  "source destination source_port destination_port vni teid spi ttl hop_limit vid pcp label key opcode dst_qp psn operation sender_protocol target_protocol bytes code family".split(
    " ",
  ),
);

/** Flags of TCP say what a segment does; others are seldom set. */
function isMain(header: string, field: string): boolean {
  return field === "flags" ? header === "tcp" : MAIN.has(field);
}

export function Form({ model }: { readonly model: PacketModel }): JSX.Element {
  const layers = model.layers.value;
  const tree = model.error.value === null ? (model.way.value?.snapshots[0]?.tree ?? null) : null;
  const move = (index: number, by: number): void => {
    const next = [...layers];
    const [one] = next.splice(index, 1);
    if (one !== undefined) next.splice(index + by, 0, one);
    model.setLayers(next);
  };
  return (
    <div class="builder-form">
      <ol aria-label="Headers">
        {layers.map((layer, index) => (
          <li key={`${index} ${layer.header}`}>
            <Header
              layer={layer}
              index={index}
              tree={tree}
              model={model}
              onMove={(by) => move(index, by)}
              last={index === layers.length - 1}
            />
          </li>
        ))}
      </ol>
      <Add onAdd={(header) => model.setLayers([...layers, { header, ...(isBytes(header) && { bytes: "00" }) }])} />
    </div>
  );
}

function isBytes(header: string): boolean {
  return header === "payload" || header === "trailer";
}

interface HeaderProps {
  readonly layer: FormLayer;
  readonly index: number;
  readonly tree: FrameTree | null;
  readonly model: PacketModel;
  readonly last: boolean;
  readonly onMove: (by: number) => void;
}

function Header({ layer, index, tree, model, last, onMove }: HeaderProps): JSX.Element {
  const { header } = layer;
  const error = model.error.value?.layer === index ? model.error.value : null;
  const fields = packetFields(header);
  const shown = fields.filter(({ name }) => isMain(header, name));
  const others = fields.filter((field) => !shown.includes(field));
  const name = `${header}, header ${index + 1}`;
  const set = (field: string, value: unknown): void => {
    const all = model.layers.peek();
    model.setLayers(all.map((one, i) => (i === index ? changed(one, field, value) : one)));
  };
  const field = (one: PacketField): JSX.Element => (
    <Field
      key={one.name}
      field={one}
      value={layer[one.name]}
      built={
        tree?.nodes[index]?.header === header ? tree.nodes[index].fields.find((f) => f.name === one.name) : undefined
      }
      error={error?.field === one.name ? error.text : null}
      onValue={(value) => set(one.name, value)}
    />
  );
  return (
    <fieldset class="builder-header" aria-label={name}>
      <div class="builder-header-line">
        <strong class="mono">{header}</strong>
        <button type="button" aria-label={`Move ${name}, up`} disabled={index === 0} onClick={() => onMove(-1)}>
          ↑
        </button>
        <button type="button" aria-label={`Move ${name}, down`} disabled={last} onClick={() => onMove(1)}>
          ↓
        </button>
        <button
          type="button"
          aria-label={`Remove ${name}`}
          onClick={() => model.setLayers(model.layers.peek().filter((_, i) => i !== index))}
        >
          Remove
        </button>
      </div>
      {error !== null && error.field === null && (
        <p class="builder-error" role="alert">
          {error.text}
        </p>
      )}
      <div class="builder-fields">{shown.map(field)}</div>
      {others.length > 0 && (
        <details open={others.some((one) => layer[one.name] !== undefined || error?.field === one.name)}>
          <summary>More fields ({others.length})</summary>
          <div class="builder-fields">{others.map(field)}</div>
        </details>
      )}
    </fieldset>
  );
}

function changed(layer: FormLayer, field: string, value: unknown): FormLayer {
  const { [field]: _, ...rest } = layer;
  return { ...rest, header: layer.header, ...(value !== undefined && { [field]: value }) };
}

function Add({ onAdd }: { readonly onAdd: (header: string) => void }): JSX.Element {
  const [header, setHeader] = useState("udp");
  const id = useId();
  return (
    <p class="builder-add">
      <label for={id}>Header</label>{" "}
      <select id={id} value={header} onChange={({ currentTarget }) => setHeader(currentTarget.value)}>
        {packetHeaders().map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>{" "}
      <button type="button" onClick={() => onAdd(header)}>
        Add header
      </button>
    </p>
  );
}
