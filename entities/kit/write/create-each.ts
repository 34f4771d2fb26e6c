import { isAppError, type AppError, type ErrorCode, type FieldProblem } from '../base/errors.ts';
import type { Creation } from './creations.ts';
import type { ChangeWork } from './change-work.ts';

type Row = Record<string, unknown>;

export interface RefusedInput {
  /** Number of the input; the first is 0. */
  readonly index: number;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface CreatedEach {
  readonly created: readonly Row[];
  readonly refused: readonly RefusedInput[];
}

/**
 * Creates the records of all inputs that are not refused. An error that is about no single input refuses all of them.
 * @param creations with paths that begin with the number of the input
 * @param check checks the values of one creation. Each is checked once by itself: an error names at most a hundred problems, so a creation
 * of all of them would find few wrong inputs at a time, and check all others again
 * @param create creates all or none, and writes nothing before it refuses
 * @throws AppError of which no input is the reason
 */
export async function createEach(
  work: Pick<ChangeWork, 'counters' | 'created'>,
  creations: readonly Creation[],
  check: (creation: Creation) => void,
  create: (creations: readonly Creation[]) => Promise<readonly Row[]>,
): Promise<CreatedEach> {
  const refused = new Map<number, RefusedInput>();
  for (const creation of creations)
    for (const refusal of refusedBy(check, creation)) refused.set(refusal.index, refusal);
  for (;;) {
    const left = creations.filter((_creation, index) => !refused.has(index));
    if (left.length === 0) return { created: [], refused: inOrder(refused) };
    const [reserved, written] = [work.counters.reserved, work.created.size];
    try {
      return { created: await create(left), refused: inOrder(refused) };
    } catch (error) {
      const found = isAppError(error) && work.created.size === written ? refusalsIn(error) : [];
      if (found.length === 0) throw error;
      for (const refusal of found) refused.set(refusal.index, refusal);
      work.counters.reserved = reserved;
    }
  }
}

function inOrder(refused: ReadonlyMap<number, RefusedInput>): RefusedInput[] {
  return [...refused.values()].toSorted((one, other) => one.index - other.index);
}

/** The refusal of an input with wrong values. An error that is about no single input is left to the creation of all. */
function refusedBy(check: (creation: Creation) => void, creation: Creation): RefusedInput[] {
  try {
    check(creation);
    return [];
  } catch (error) {
    if (!isAppError(error)) throw error;
    return refusalsIn(error);
  }
}

function refusalsIn({ code, details }: AppError): RefusedInput[] {
  const byInput = Map.groupBy(details.fields ?? [], ({ path }) => /^\/(\d+)(?:\/|$)/.exec(path)?.[1]);
  if (byInput.has(undefined)) return [];
  return [...byInput].map(([index, problems]) => ({
    index: Number(index),
    code,
    message: problems.map(describe).join('; '),
  }));
}

function describe({ path, message }: FieldProblem): string {
  const name = path.split('/').slice(2).join('/');
  return name === '' || !/^[a-z]/.test(message) ? message : `${name} ${message}`;
}
