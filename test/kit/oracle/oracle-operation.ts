import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Random } from '../random.ts';
import type { ChangedBy, OracleModel } from './oracle-model.ts';
import type { Acting } from './oracle-rights.ts';
import type { OracleRules } from './oracle-rules.ts';

/** An operation of a caller, and its required outcome. */
export interface OracleOperation {
  readonly acting: Acting;
  readonly says: string;
  /** Name that operations of one sort share. */
  readonly sort: string;
  /** Errors of which one has to be the answer (`codeOf`); none: it has to succeed. */
  readonly problems: readonly string[];
  run(data: DataClient): Promise<unknown>;
  /** How the answer differs from the one that it has to be. */
  disagreement?(answer: unknown): string | undefined;
  /** Makes the same change in the model. */
  apply?(by: ChangedBy): void;
}

/** The people and records of operations. */
export interface OracleWorld {
  readonly model: OracleModel;
  readonly rules: OracleRules;
  readonly random: Random;
  readonly people: readonly string[];
  readonly organizations: readonly string[];
}
