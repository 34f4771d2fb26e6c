/** Parameter of revivers that lib.es5.d.ts does not know (JSON.parse source text access). */
interface Source {
  readonly source?: string;
}

const wholeNumber = /^-?\d+$/;

/**
 * A JSON document in which ids are texts and no number has lost digits: whole numbers that are named `id`, and those beyond 2^53, are kept as
 * they are written. An id that is written as 1.2e+18 has lost its digits before, and is null.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (name: string, value: unknown, ...[{ source = '' } = {}]: readonly Source[]) => {
    if (typeof value !== 'number') return value;
    if (name === 'id') return wholeNumber.test(source) ? source : null;
    return wholeNumber.test(source) && !Number.isSafeInteger(value) ? source : value;
  });
}
