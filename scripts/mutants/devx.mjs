/** Planted faults of device commands. */

const TABLES = ["test/mlx5dv/devx/tables.test.ts"];
const REFUSALS = ["test/mlx5dv/devx/refusals.test.ts"];
const OBJECTS = ["test/mlx5dv/devx/objects.test.ts"];
const COMMANDS = ["test/mlx5dv/devx/devx.test.ts"];
const LAYOUTS = ["test/mlx5dv/devx/layouts.test.ts"];

const fault = (name, id, search, replace, breaks, sees) => {
  return { id: `devx-${id}`, file: `src/model/devx/${name}.ts`, search, replace, breaks, sees };
};

export const DEVX = [
  fault("flowEntry", "rank", "rankLow(place, this.index)", "rankLow(place, this.id)", "entries by their age", TABLES),
  fault(
    "flowEntry",
    "sides",
    "[mask[EXT_SIDE], key[EXT_SIDE]] = [0xff, side]",
    "mask.fill(0, 512)",
    "an entry of one side is for both",
    TABLES,
  ),
  fault(
    "flowEntry",
    "old-rule",
    "for (const rule of this.#rules) exports.removeRule(rule);",
    "",
    "the old rule stays",
    TABLES,
  ),
  fault(
    "flowEntry",
    "outside",
    "if (outside >= 0) command.fail",
    "if (false) command.fail",
    "values outside",
    REFUSALS,
  ),
  fault(
    "flowTable",
    "miss",
    "exports.setMiss(table, setting.missTable.classifier.table);",
    "",
    "no miss table",
    TABLES,
  ),
  fault(
    "flowTable",
    "overlap",
    "first <= other.last && last >= other.first",
    "first === other.first",
    "overlaps",
    REFUSALS,
  ),
  fault(
    "entryActions",
    "level",
    "next.setting.level <= table.setting.level",
    "next.setting.level < table.setting.level",
    "a table of the same level",
    REFUSALS,
  ),
  fault("entryActions", "counter", "addressOf(id - counter.id)", "addressOf(0)", "the first counter of a bulk", TABLES),
  fault(
    "entryActions",
    "counters-behind",
    "context.destination_list_size + i)",
    "i)",
    "counters where destinations lie",
    TABLES,
  ),
  fault("object", "numbers", "id < found.id + found.count", "true", "numbers of destroyed objects", COMMANDS),
  fault(
    "commands",
    "other-object",
    "if (named !== object) command.fail",
    "if (false) command.fail",
    "others",
    COMMANDS,
  ),
  fault("commands", "anybody", "?.anybody === true", "!== undefined", "commands without DEVX", COMMANDS),
  fault(
    "asoCommands",
    "aso-number",
    "object.write(obj_id - object.id,",
    "object.write(0,",
    "the first of a bulk",
    OBJECTS,
  ),
  fault("flowMeter", "meter-select", "if ((asked & bit) !== 0)", "if (asked !== 0)", "what is not selected", OBJECTS),
  fault(
    "layouts",
    "write",
    "view.getUint8(place) & ~mask",
    "view.getUint8(place) & 0",
    "bits of the next field",
    LAYOUTS,
  ),
  {
    id: "devx-fdb-miss",
    file: "assembly/walk/nextTable.ts",
    search: "    if (flags & TABLE_FDB) return unswitched(branch, flags);\n    if (flags & TABLE_SEND)",
    replace: "    if (flags & TABLE_SEND)",
    breaks: "the end of an eSwitch table",
    sees: TABLES,
  },
];
