/**
 * Writes objects that refer to each other: each once, in the order in which they are found. Known
 * objects come first; the reader puts its own objects in their places.
 */
import { refuse } from "../errors.js";
import { Rule } from "../model/rule/rule.js";
import { CLASSES, LEFT_OUT } from "./classes.js";
import { ByteWriter, Kind, Tag, TYPED, type TypedArray } from "./graphFormat.js";

/** What a graph is written from. */
export interface GraphRoots {
  /** Objects that the reader has. Their fields are written too, unless they are opaque. */
  readonly known: readonly object[];
  /** Names of known objects in paths. */
  readonly names: ReadonlyMap<object, string>;
  /** Known objects without contents. */
  readonly opaque: ReadonlySet<object>;
  /** Constants of this release: objects and functions. */
  readonly constants: ReadonlyMap<object, number>;
  /** What the program gets back. */
  readonly kept: object;
  /** The value of a field that is written in place of another one; undefined for the field itself. */
  readonly replaced: ReadonlyMap<object, unknown>;
}

/** A written graph: names as plain data, the rest as bytes. */
export interface WrittenGraph {
  readonly names: GraphNames;
  readonly objects: Uint8Array;
  readonly values: Uint8Array;
  readonly tables: Uint8Array;
  readonly buffers: readonly Uint8Array[];
}

export interface GraphNames {
  readonly count: number;
  readonly strings: readonly string[];
  /** The fields of objects, and the class that they were found in. */
  readonly shapes: readonly (readonly string[])[];
  readonly classes: readonly string[];
}

interface Shape {
  readonly number: number;
  /** All own fields, in their order. */
  readonly all: readonly string[];
  /** Which of them are written, and their names. */
  readonly isWritten: readonly boolean[];
  readonly keys: readonly string[];
  /** The objects of these fields in the last object of this shape, and their numbers: most rules share theirs. */
  readonly last: (object | null)[];
  readonly ids: number[];
}

const NAMES = Object.keys(CLASSES);
const CLASS_NUMBERS: ReadonlyMap<unknown, number> = new Map(NAMES.map((name, n) => [CLASSES[name], n]));

/** Rules are most of the objects of a large device. */
const RULE = Kind.classes + (CLASS_NUMBERS.get(Rule) as number);

export function writeGraph(roots: GraphRoots): WrittenGraph {
  return new GraphWriter(roots).write();
}

class GraphWriter {
  private readonly _ids = new Map<object, number>();
  private readonly _objects: object[] = [];
  private readonly _kindsOf: number[] = [];
  /** Of each object, the object that it was found in, and the field. */
  private readonly _parents: number[] = [];
  private readonly _fields: (string | number)[] = [];
  private readonly _strings = new Map<string, number>();
  private readonly _shapes = new Map<string, Shape>();
  private readonly _lastShapes = new Map<object | null, Shape>();
  private readonly _buffers = new Map<ArrayBufferLike, number>();
  private readonly _weak: WeakMap<object, unknown>[] = [];
  private readonly _kinds = new ByteWriter();
  private readonly _values = new ByteWriter();
  private readonly _tables = new ByteWriter();
  private _at = 0;

  constructor(private readonly _roots: GraphRoots) {}

  write(): WrittenGraph {
    for (const one of this._roots.known) this._add(one, -1, this._roots.names.get(one) ?? "");
    this._add(this._roots.kept, -1, "keep");
    let next = 0;
    for (let checked = 0; next < this._objects.length || checked < this._objects.length;) {
      for (; next < this._objects.length; next++) this._contents(next);
      const end = this._objects.length;
      for (; checked < end; checked++) this._weakEntries(checked);
    }
    this._tables.number(0);
    const strings = [...this._strings.keys()];
    const shapes = [...this._shapes.values()].map(({ keys }) => keys);
    const buffers = [...this._buffers.keys()].map((buffer) => new Uint8Array(buffer));
    return {
      names: { count: this._objects.length, strings, shapes, classes: NAMES },
      objects: this._kinds.written(),
      values: this._values.written(),
      tables: this._tables.written(),
      buffers,
    };
  }

  private _add(object: object, parent: number, field: string | number): number {
    const id = this._objects.length;
    this._ids.set(object, id);
    this._objects.push(object);
    this._parents.push(parent);
    this._fields.push(field);
    this._kind(object, id);
    return id;
  }

  private _kind(object: object, id: number): void {
    const kind = this._kindOf(object, id);
    this._kindsOf.push(kind);
    this._kinds.number(kind);
    if (kind === Kind.typed) this._typed(object as TypedArray, id);
    else if (kind === Kind.weak) this._weak.push(object as WeakMap<object, unknown>);
  }

  private _kindOf(object: object, id: number): number {
    const prototype = Object.getPrototypeOf(object) as { constructor?: unknown } | null;
    // Most objects of a large device.
    if (prototype === Rule.prototype) return RULE;
    if (this._roots.opaque.has(object)) return Kind.opaque;
    if (Array.isArray(object)) return Kind.array;
    if (object instanceof Map) return Kind.map;
    if (object instanceof Set) return Kind.set;
    if (object instanceof WeakMap) return Kind.weak;
    if (ArrayBuffer.isView(object)) return Kind.typed;
    if (prototype === Object.prototype || prototype === null) return Kind.plain;
    const number = CLASS_NUMBERS.get(prototype.constructor);
    if (number === undefined) this._refuse(id, `an object of ${(prototype.constructor as { name: string }).name}`);
    return Kind.classes + number;
  }

  private _typed(view: TypedArray, id: number): void {
    const type = TYPED.findIndex((one) => view instanceof one);
    if (type < 0 || !(view.buffer instanceof ArrayBuffer)) {
      this._refuse(id, type < 0 ? "this view of memory" : "memory that several threads share");
    }
    let buffer = this._buffers.get(view.buffer);
    if (buffer === undefined) this._buffers.set(view.buffer, (buffer = this._buffers.size));
    for (const one of [type, buffer, view.byteOffset, view.length]) this._kinds.number(one);
  }

  private _contents(id: number): void {
    const object = this._objects[id] as object;
    const values = this._values;
    this._at = id;
    switch (this._kindsOf[id]) {
      case Kind.typed:
      case Kind.weak:
      case Kind.opaque:
        return;
      case Kind.array:
        this._elements(object as readonly unknown[]);
        return;
      case Kind.map:
        values.number((object as Map<unknown, unknown>).size);
        for (const [key, value] of object as Map<unknown, unknown>) {
          this._value(values, key, "key");
          this._value(values, value, typeof key === "string" || typeof key === "number" ? key : "value");
        }
        return;
      case Kind.set:
        values.number((object as Set<unknown>).size);
        for (const value of object as Set<unknown>) this._value(values, value, "value");
        return;
      default:
        this._fieldsOf(object as Record<string, unknown>);
    }
  }

  private _elements(array: readonly unknown[]): void {
    this._values.number(array.length);
    for (let i = 0; i < array.length; i++) this._value(this._values, array[i], i);
  }

  private _fieldsOf(object: Record<string, unknown>): void {
    const shape = this._shapeOf(object);
    const { isWritten, last, ids } = shape;
    const values = this._values;
    // The rest of the call under way is on the stack of the program.
    if (object["_running"] === true) this._refuse(this._at, "a call that is under way");
    values.number(shape.number);
    let i = -1;
    for (const key in object) {
      i++;
      if (isWritten[i] !== true) continue;
      const value = object[key];
      if (typeof value === "number") values.value(value);
      else if (value !== null && value === last[i]) {
        values.byte(Tag.object);
        values.number(ids[i] as number);
      } else {
        this._value(values, value, key);
        const id = typeof value === "object" && value !== null ? this._ids.get(value) : undefined;
        last[i] = id === undefined ? null : (value as object);
        ids[i] = id ?? 0;
      }
    }
  }

  private _shapeOf(object: object): Shape {
    const prototype = Object.getPrototypeOf(object) as object | null;
    const last = this._lastShapes.get(prototype);
    if (last !== undefined && hasFields(object, last.all)) return last;
    const all = Object.keys(object);
    const left = prototype === null ? undefined : LEFT_OUT.get(prototype.constructor);
    const keys = left === undefined ? all : all.filter((key) => !(key in left));
    const isWritten = all.map((key) => keys.includes(key));
    const name = `${left === undefined ? "" : prototype?.constructor.name}:${all.join()}`;
    let shape = this._shapes.get(name);
    if (shape === undefined)
      this._shapes.set(name, (shape = { number: this._shapes.size, all, isWritten, keys, last: [], ids: [] }));
    this._lastShapes.set(prototype, shape);
    return shape;
  }

  private _value(to: ByteWriter, value: unknown, field: string | number): void {
    switch (typeof value) {
      case "number": {
        to.value(value);
        return;
      }
      case "object":
        if (value === null) {
          to.byte(Tag.null);
          return;
        }
        {
          this._reference(to, value, field);
          return;
        }
      case "undefined": {
        to.byte(Tag.undefined);
        return;
      }
      case "boolean": {
        to.byte(value ? Tag.true : Tag.false);
        return;
      }
      case "string":
        to.byte(Tag.string);
        {
          to.number(this._string(value));
          return;
        }
      case "bigint":
        to.byte(Tag.bigint);
        {
          to.number(this._string(String(value)));
          return;
        }
      default:
        this._function(to, value as object, field);
    }
  }

  private _reference(to: ByteWriter, object: object, field: string | number): void {
    const known = this._ids.get(object);
    if (known !== undefined) {
      to.byte(Tag.object);
      to.number(known);
      return;
    }
    // Constants of modules: the reader has its own.
    if (Array.isArray(object) && object.length === 0 && Object.isFrozen(object)) {
      to.byte(Tag.empty);
      return;
    }
    const { constants, replaced } = this._roots;
    const constant = constants.get(object);
    if (constant !== undefined) {
      to.byte(Tag.constant);
      to.number(constant);
      return;
    }
    if (replaced.has(object)) {
      this._value(to, replaced.get(object), field);
      return;
    }
    to.byte(Tag.object);
    to.number(this._add(object, this._at, field));
  }

  private _function(to: ByteWriter, value: object, field: string | number): void {
    const number = CLASS_NUMBERS.get(value);
    const constant = this._roots.constants.get(value);
    if (number === undefined && constant === undefined) {
      this._add(Object.create(null) as object, this._at, field);
      this._refuse(this._objects.length - 1, typeof value === "symbol" ? "a symbol" : "a function");
    }
    to.byte(number === undefined ? Tag.constant : Tag.class);
    to.number(number ?? (constant as number));
  }

  private _string(text: string): number {
    let number = this._strings.get(text);
    if (number === undefined) this._strings.set(text, (number = this._strings.size));
    return number;
  }

  /** Writes the entries that weak maps have for an object. */
  private _weakEntries(id: number): void {
    const object = this._objects[id] as object;
    this._at = id;
    // Of rules only their own matcher keeps something.
    for (let i = object instanceof Rule ? WEAK_ROOTS : 0; i < this._weak.length; i++) {
      const map = this._weak[i] as WeakMap<object, unknown>;
      if (!map.has(object)) continue;
      this._tables.number(1);
      this._tables.number(this._ids.get(map) as number);
      this._tables.number(id);
      this._value(this._tables, map.get(object), "weak");
    }
  }

  private _refuse(id: number, what: string): never {
    const path: (string | number)[] = [];
    for (let at = id; at >= 0; at = this._parents[at] as number) path.unshift(this._fields[at] as string | number);
    const steps = path.filter((step) => step !== "").join(".");
    const hint = `${what}: remove it for the snapshot, and set it again in the restored device`;
    refuse({ code: "EINVAL", reason: "not_saved", path: steps, hint });
  }
}

/** Whether these are all own fields of an object, in this order. Prototypes of the model have no fields that are listed. */
function hasFields(object: object, all: readonly string[]): boolean {
  let i = 0;
  for (const key in object) if (key !== all[i++]) return false;
  return i === all.length;
}

/** Weak maps of modules, which are known objects. */
const WEAK_ROOTS = 3;
