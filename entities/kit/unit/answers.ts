import { isAppError } from '../base/errors.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import { missingRecord } from '../model/missing-record.ts';
import {
  answerIn,
  checkSelections,
  compileAggregates,
  compileLists,
  compileNodes,
  compilePage,
  compileRecord,
  compileRecords,
  type ReadStatement,
} from '../read/answer-statements.ts';
import type { AggregateSelection } from '../read/aggregate.ts';
import type { ListsPart, PageSelection, RecordSelection } from '../read/selection.ts';
import type { Statement } from '../storage/sql.ts';
import type { AnswerWork, SidecarStatement } from './answer-work.ts';

/** Values of a record, by their names in the answer. */
export type RecordJson = Readonly<Record<string, unknown>>;

/** A group of records. Numbers are decimal, as text; null without a value. */
export interface AggregateJson {
  /** Values that the records have in common, by grouping. */
  readonly keys: Readonly<Record<string, string | boolean | null>>;
  readonly count: number;
  readonly numbers: Readonly<Record<string, Readonly<Record<'sum' | 'min' | 'max' | 'avg', string | null>>>>;
}

/** A record that was found by its id alone. */
export interface FoundNode {
  /** Name of the kind's type. */
  readonly type: string;
  readonly record: RecordJson;
}

/** Reads of nested records as JSON, one statement each. Their rows do not enter the unit of work. */
export class Answers {
  readonly #work: AnswerWork;
  readonly #caller: Caller;

  constructor(work: AnswerWork, caller: Caller) {
    this.#work = work;
    this.#caller = caller;
  }

  /** A list with everything selected below it, in one statement. @throws AppError invalid_cursor, invalid_input, limit_exceeded */
  async page(selection: PageSelection): Promise<RecordJson> {
    return (await this.#answer(compilePage(selection, this.#caller, this.#work.plans))) as RecordJson;
  }

  /** Aggregates of records, in one statement. @throws AppError invalid_input, limit_exceeded */
  async aggregate(selection: AggregateSelection): Promise<readonly AggregateJson[]> {
    const statement = compileAggregates(selection, this.#caller, this.#work.plans);
    return (await this.#answer(statement)) as unknown as readonly AggregateJson[];
  }

  /** Several lists with everything selected below them, in one statement. @throws AppError invalid_cursor, invalid_input, limit_exceeded */
  async lists(parts: readonly ListsPart[]): Promise<RecordJson> {
    return (await this.#answer(compileLists(parts, this.#caller, this.#work.plans))) as RecordJson;
  }

  /**
   * Records with everything selected below them, in one statement and in the order of the ids, without missing records.
   * @throws AppError limit_exceeded
   */
  async records(selection: RecordSelection, ids: readonly string[]): Promise<readonly RecordJson[]> {
    return (await this.#answer(
      compileRecords(selection, ids, this.#caller, this.#work.plans),
    )) as unknown as readonly RecordJson[];
  }

  /**
   * Records by ids of any of these kinds, in the order of the ids; null where there is none. Two statements: the first looks up
   * the kinds of the ids, the second reads only records of these kinds.
   * @throws AppError invalid_cursor, invalid_input, limit_exceeded
   */
  async nodes(selections: readonly RecordSelection[], ids: readonly string[]): Promise<readonly (FoundNode | null)[]> {
    // All selections are checked: errors must not depend on which records exist.
    checkSelections(selections);
    const kinds = await this.#kindsOf(ids);
    const found = selections.filter(({ module }) => kinds.includes(module.topic));
    // Ids of no record are read, too: the number of statements must not distinguish them from records that the caller cannot view.
    const statement = compileNodes(
      found.length > 0 ? found : selections.slice(0, 1),
      ids,
      kinds,
      this.#caller,
      this.#work.plans,
    );
    return (await this.#answer(statement)) as unknown as readonly (FoundNode | null)[];
  }

  /**
   * Records of known kinds by id, in the order of the ids; null where there is none that the caller can view. It is the only statement of
   * this unit of work and ends it.
   * @param selections of the kinds
   * @param kinds of the ids, by topic
   * @throws AppError limit_exceeded
   */
  async singleStatementNodes(
    selections: readonly RecordSelection[],
    ids: readonly string[],
    kinds: readonly string[],
  ): Promise<readonly (FoundNode | null)[]> {
    const statement = compileNodes(selections, ids, kinds, this.#caller, this.#work.plans);
    return JSON.parse((await this.#singleStatementAnswer(statement)) ?? '[]') as readonly (FoundNode | null)[];
  }

  /** One record with everything selected below it, in one statement. @throws AppError not_found, limit_exceeded */
  async record(selection: RecordSelection, id: string): Promise<RecordJson> {
    return found(await this.#answer(compileRecord(selection, id, this.#caller, this.#work.plans)), selection, id);
  }

  /** The JSON text of a list. It is the only statement of this unit of work and ends it. @throws AppError, see `page` */
  async singleStatementPage(selection: PageSelection): Promise<string> {
    return (await this.#singleStatementAnswer(compilePage(selection, this.#caller, this.#work.plans))) as string;
  }

  /**
   * The JSON text of one record. It is the only statement of this unit of work and ends it.
   * @param sidecar is sent with it
   * @throws AppError, see `record`
   */
  async singleStatementRecord(selection: RecordSelection, id: string, sidecar?: SidecarStatement): Promise<string> {
    const statement = compileRecord(selection, id, this.#caller, this.#work.plans);
    return found(await this.#singleStatementAnswer(statement, sidecar), selection, id);
  }

  /** Kinds by `topic`, in the order of the ids; null for an unknown id, or that of a record in another organization. */
  async #kindsOf(ids: readonly string[]): Promise<readonly (string | null)[]> {
    const session = await this.#work.readAs(databaseRoleOf(this.#caller));
    const { rows } = await session.query<{ kinds: readonly (string | null)[] }>(
      'select kinds_of_records($1) as kinds',
      [ids],
    );
    return rows[0]?.kinds ?? [];
  }

  async #singleStatementAnswer(statement: ReadStatement, sidecar?: SidecarStatement): Promise<string | undefined> {
    const [row] = await this.#work.readInOneStatement(statement, sidecar);
    return row && answerIn(row);
  }

  async #answer({ text, values }: Statement): Promise<RecordJson | undefined> {
    const session = await this.#work.readAs(databaseRoleOf(this.#caller));
    const [row] = (await session.query<{ result: string | null }>(text, values)).rows;
    return row && (JSON.parse(answerIn([row.result])) as RecordJson);
  }
}

/** The answer of a read, or null for a record that the caller cannot view. */
export async function unlessHidden<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isAppError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

function found<T>(answer: T | undefined, { module }: RecordSelection, id: string): T {
  if (answer === undefined) throw missingRecord(module, id);
  return answer;
}
