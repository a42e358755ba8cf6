/** Reads a graph: makes all objects first, then sets their fields. */
import { CLASSES, KEPT, LEFT_OUT, type Class } from "./classes.js";
import { ByteReader, Kind, Tag, TYPED } from "./graphFormat.js";
import type { GraphNames } from "./graphWriter.js";

export interface GraphBytes {
  readonly names: GraphNames;
  readonly objects: Uint8Array;
  readonly values: Uint8Array;
  readonly tables: Uint8Array;
  readonly buffers: readonly ArrayBuffer[];
}

/** @param known the objects in the places of those that the graph was written with */
export function readGraph(graph: GraphBytes, known: readonly object[], constants: readonly object[]): object {
  return new GraphReader(graph, known, constants).read();
}

const EMPTY: readonly unknown[] = Object.freeze([]);

class GraphReader {
  private readonly _objects: object[];
  private readonly _kinds: number[] = [];
  private readonly _classes: readonly Class[];
  private readonly _values: ByteReader;
  /** By the numbers of their texts: each is read once, however often it is named. */
  private readonly _bigints = new Map<number, bigint>();

  constructor(
    private readonly _graph: GraphBytes,
    private readonly _known: readonly object[],
    private readonly _constants: readonly object[],
  ) {
    this._objects = [..._known];
    if (_graph.names.shapes.flat().includes("__proto__")) throw new RangeError("no field of an object");
    this._classes = _graph.names.classes.map((name) => CLASSES[name] as Class);
    this._values = new ByteReader(_graph.values);
  }

  /** @returns what the program kept */
  read(): object {
    this._make();
    for (let id = 0; id < this._objects.length; id++) this._fill(id);
    const tables = new ByteReader(this._graph.tables);
    while (tables.number() === 1) {
      const map = this._objects[tables.number()] as WeakMap<object, unknown>;
      map.set(this._objects[tables.number()] as object, this._value(tables));
    }
    const kept = this._objects[this._known.length];
    if (kept === undefined) throw new RangeError("there are fewer objects");
    return kept;
  }

  private _make(): void {
    const reader = new ByteReader(this._graph.objects);
    const { count } = this._graph.names;
    for (let id = 0; id < count; id++) {
      const kind = reader.number();
      this._kinds.push(kind);
      if (id >= this._known.length) this._objects.push(this._made(kind, reader));
    }
  }

  private _made(kind: number, reader: ByteReader): object {
    switch (kind) {
      case Kind.plain:
        return {};
      case Kind.array:
        return [];
      case Kind.map:
        return new Map();
      case Kind.set:
        return new Set();
      case Kind.weak:
        return new WeakMap();
      case Kind.typed: {
        const type = TYPED[reader.number()] as Uint8ArrayConstructor;
        const buffer = this._graph.buffers[reader.number()] as ArrayBuffer;
        return new type(buffer, reader.number(), reader.number());
      }
      default:
        return Object.create((this._classes[kind - Kind.classes] as Class).prototype) as object;
    }
  }

  private _fill(id: number): void {
    const object = this._objects[id] as object;
    const kind = this._kinds[id] as number;
    const values = this._values;
    if (kind === Kind.typed || kind === Kind.weak || kind === Kind.opaque) return;
    if (kind === Kind.plain || kind >= Kind.classes) {
      this._setFields(object as Record<string, unknown>, kind);
      return;
    }
    for (let left = values.number(); left > 0; left--) {
      if (kind === Kind.array) (object as unknown[]).push(this._value(values));
      else if (kind === Kind.set) (object as Set<unknown>).add(this._value(values));
      else (object as Map<unknown, unknown>).set(this._value(values), this._value(values));
    }
  }

  private _setFields(object: Record<string, unknown>, kind: number): void {
    const keys = this._graph.names.shapes[this._values.number()] as readonly string[];
    for (let i = 0; i < keys.length; i++) object[keys[i] as string] = this._value(this._values);
    const left = kind === Kind.plain ? undefined : LEFT_OUT.get(this._classes[kind - Kind.classes] as Class);
    if (left === undefined) return;
    for (const [key, value] of Object.entries(left)) if (value !== KEPT) object[key] = value;
  }

  private _value(from: ByteReader): unknown {
    const tag = from.byte();
    if (tag >= Tag.small) return tag - Tag.small;
    switch (tag) {
      case Tag.object:
        return this._objects[from.number()];
      case Tag.null:
        return null;
      case Tag.true:
        return true;
      case Tag.false:
        return false;
      case Tag.integer:
        return from.number();
      case Tag.negative:
        return -from.number();
      case Tag.double:
        return from.double();
      case Tag.string:
        return this._graph.names.strings[from.number()];
      case Tag.bigint:
        return this._bigint(from.number());
      case Tag.class:
        return this._classes[from.number()];
      case Tag.empty:
        return EMPTY;
      case Tag.constant:
        return this._constants[from.number()];
      default:
        return undefined;
    }
  }

  private _bigint(string: number): bigint {
    let value = this._bigints.get(string);
    if (value === undefined) this._bigints.set(string, (value = BigInt(this._graph.names.strings[string] as string)));
    return value;
  }
}
