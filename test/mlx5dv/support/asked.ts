/** A matcher of one field in device bytes, and rules of it one at a time. */
import type { Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Table } from "../../../src/model/table/domain.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import { criteriaOf, deviceBytes, type Row } from "./deviceBytes.js";

export class Asked {
  readonly #name: string;
  readonly #beside: Readonly<Record<string, bigint>>;
  readonly #matcher: Matcher;

  /** `beside` are other fields of mask and value. */
  constructor(table: Table, { name }: Row, mask: bigint, beside: Readonly<Record<string, bigint>> = {}) {
    this.#name = name;
    this.#beside = beside;
    const fields = { ...beside, [name]: mask };
    const match_buf = deviceBytes(fields);
    const parameters = { match_sz: match_buf.length, match_buf };
    this.#matcher = dv.mlx5dv_dr_matcher_create(table, 5, criteriaOf(fields), parameters);
  }

  /** Whether a frame hits the rule of this value. */
  hits(value: bigint, send: () => Outcome): boolean {
    const match_buf = deviceBytes({ ...this.#beside, [this.#name]: value });
    const rule = dv.mlx5dv_dr_rule_create(this.#matcher, { match_sz: match_buf.length, match_buf }, 0, []);
    const { rules } = send();
    dv.mlx5dv_dr_rule_destroy(rule);
    return rules.includes(rule);
  }

  close(): void {
    dv.mlx5dv_dr_matcher_destroy(this.#matcher);
  }
}
