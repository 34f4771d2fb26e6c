import type { Config } from '#config/objects/root.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { OperatorMessage } from '#workflows/identity/send-system-message.contract.ts';

/** Facts about a record, on which a decision depends. */
interface Facts {
  readonly id: string;
  /** Operators see it beside the id in a dry run. */
  readonly organizationId?: string | null;
}

export interface SweepContext {
  readonly now: Date;
  readonly config: Config;
  /** `now` is a later time, of which an operator wants to know what would be done then if nothing else happens. */
  readonly isForesight: boolean;
}

/** When an action is taken. */
export interface ActionContext extends SweepContext {
  /** Number of actions that the run has taken before. */
  readonly acted: number;
}

/** Records that a sweep looks at next. */
export interface SweepSelection extends SweepContext {
  readonly limit: number;
  /** Position of the last record before them; undefined for the first page. */
  readonly after?: readonly string[];
  /** This record alone, if it is still among those that are selected. */
  readonly only?: string;
}

/** The action on a record, and its reason; nothing happens without an action. */
export interface SweepDecision<Action extends string = string> {
  readonly action: Action | null;
  /** A constant phrase: skipped records are counted by it. */
  readonly reason: string;
}

/** Settings of a sweep in the configuration. Changes have an effect when it is reloaded. */
export interface SweepSettings {
  /** When it runs; default: as the sweep says. */
  readonly every?: number | string;
  /** While it is false, the schedule is paused. */
  readonly isEnabled?: boolean;
  readonly isDryRun?: boolean;
  /** Most records that one run looks at, and most that it changes. */
  readonly maxExamined?: number;
  readonly maxDone?: number;
  /** How often one run takes the limited action. */
  readonly maxLimited?: number;
  /** Longest transaction of one action, in milliseconds; default: `server.writetimeout`. */
  readonly actionTimeoutMs?: number;
}

/**
 * Work on many records, again and again. Files named `….sweep.ts` are found in `activities/sweeps`. A page is read and decided about
 * without locks; each action has a transaction of its own, in which the record is locked and decided about again.
 */
export interface Sweep<Known extends Facts = Facts, Action extends string = string> {
  /** Temporal type of its workflow and of its activity: verb and noun in camelCase. It never changes. */
  readonly name: string;
  /** One line for operators. */
  readonly description: string;
  readonly queue: string;
  /** When it runs: an interval in milliseconds, or a cron expression in UTC. */
  readonly every: number | string;
  readonly settings?: (config: Config) => SweepSettings;
  /** The next records in the order of an index, over all organizations. */
  readonly find: (unit: UnitOfWork, selection: SweepSelection) => Promise<readonly Known[]>;
  /** Position of a record in that order; its id when left out. */
  readonly position?: (facts: Known) => readonly string[];
  /** Locks a record until the end of the transaction. @returns undefined when it is gone */
  readonly lock: (unit: UnitOfWork, id: string) => Promise<unknown>;
  /** Depends on nothing but its arguments. */
  readonly decide: (facts: Known, context: SweepContext) => SweepDecision<Action>;
  readonly act: (unit: UnitOfWork, facts: Known, action: Action, context: ActionContext) => Promise<void>;
  /** Message to the operator's chat at the end of a run; its text is made of rows, and empty when the run did nothing. @param startedAt of the run (RFC 3339) */
  readonly reports?: (startedAt: string) => OperatorMessage;
  /** An action that a run takes `maxLimited` times; it continues with the others. */
  readonly limited?: {
    readonly action: Action;
    /** How often this sweep has taken it since then: rows show it, so that a crash does not begin at zero again. */
    readonly countSince: (unit: UnitOfWork, startedAt: Date) => Promise<number>;
  };
}

export function defineSweep<Known extends Facts, const Action extends string>(sweep: Sweep<Known, Action>): Sweep {
  // It is given only what it has found and decided itself.
  return sweep as unknown as Sweep;
}
