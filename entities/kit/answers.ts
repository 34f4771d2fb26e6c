import type { Caller } from './caller.ts';
import { AppError } from './errors.ts';
import {
  compileLists,
  compileNodes,
  compilePage,
  compileRecord,
  compileRecords,
  type ListsPart,
  type PageSelection,
  type RecordSelection,
  type Statement,
} from './read/document.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Values by the names they have in the answer. */
export type Answer = Readonly<Record<string, unknown>>;
/** A record of a kind that the question did not name. */
export interface FoundNode {
  /** Name of the kind's type. */
  readonly type: string;
  readonly record: Answer;
}

/** Reads that only feed an answer: one statement each, nothing of it enters the unit of work. */
export class Answers {
  readonly #unit: UnitOfWork;
  readonly #caller: Caller;

  constructor(unit: UnitOfWork, caller: Caller) {
    this.#unit = unit;
    this.#caller = caller;
  }

  /**
   * A list with everything below it, in one statement, ready to be answered.
   * @throws AppError invalid_cursor, invalid_input, limit_exceeded
   */
  async page(selection: PageSelection): Promise<Answer> {
    return (await this.#answer(compilePage(selection, this.#caller))) as Answer;
  }

  /** Several lists with everything below them, in one statement. @throws AppError invalid_cursor, invalid_input, limit_exceeded */
  async lists(parts: readonly ListsPart[]): Promise<Answer> {
    return (await this.#answer(compileLists(parts, this.#caller))) as Answer;
  }

  /** Records with everything below them, in one statement, in the order of their ids; what is not there is left out. @throws AppError limit_exceeded */
  async records(selection: RecordSelection, ids: readonly string[]): Promise<readonly Answer[]> {
    return (await this.#answer(compileRecords(selection, ids, this.#caller))) as unknown as readonly Answer[];
  }

  /** Records by ids of any of these kinds, in the order of the ids; null where there is none. @throws AppError limit_exceeded */
  async nodes(kinds: readonly RecordSelection[], ids: readonly string[]): Promise<readonly (FoundNode | null)[]> {
    return (await this.#answer(compileNodes(kinds, ids, this.#caller))) as unknown as readonly (FoundNode | null)[];
  }

  /** One record with everything below it, in one statement, ready to be answered. @throws AppError not_found, limit_exceeded */
  async record(selection: RecordSelection, id: string): Promise<Answer> {
    const answer = await this.#answer(compileRecord(selection, id, this.#caller));
    if (!answer) throw new AppError('not_found', `There is no ${selection.module.typeName} "${id}".`);
    return answer;
  }

  async #answer({ text, values }: Statement): Promise<Answer | undefined> {
    const session = await this.#unit.readAs(this.#caller.kind === 'system' ? 'system' : 'app');
    const [row] = (await session.query<{ result: Answer; isTooLarge: boolean }>(text, values)).rows;
    if (row?.isTooLarge) throw new AppError('limit_exceeded', 'The answer would be too large; ask for smaller pages.');
    return row?.result;
  }
}
