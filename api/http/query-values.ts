import type { TObject } from 'typebox';

const wholeNumber = /^-?\d{1,16}$/;

type Reader = (text: string) => unknown;

interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly items?: ParameterSchema;
  /** That of free texts, in which a comma separates nothing. */
  readonly contentMediaType?: string;
}

const readers: Readonly<Record<string, Reader>> = {
  integer: (text) => (wholeNumber.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
};

function readerOf({ type = '' }: ParameterSchema): Reader {
  const types = [type].flat();
  const read = readers[types.find((name) => name !== 'null') ?? ''] ?? String;
  return types.includes('null') ? (text) => (text === 'null' ? null : read(text)) : read;
}

/**
 * Reads the occurrences of one parameter. Each occurrence of a list is one value, which is how generated clients send lists. A single
 * occurrence is split at its commas unless its values are free texts, of which a comma can be part.
 */
function valueReader(schema: ParameterSchema): (given: string | readonly string[]) => unknown {
  if (schema.type === 'array') {
    const { items = {} } = schema;
    const read = readerOf(items);
    const split = items.contentMediaType === undefined ? (text: string) => text.split(',') : (text: string) => [text];
    return (given) => (typeof given === 'string' ? split(given) : given).map(read);
  }
  const read = readerOf(schema);
  // The validation refuses several values of a parameter that is no list.
  return (given) => (typeof given === 'string' ? read(given) : given);
}

/** Query parameters are texts: converts integers, booleans, null and lists before the validation. */
export function queryReader({ properties }: TObject): (query: object) => Record<string, unknown> {
  const byName = new Map(
    Object.entries(properties).map(([name, schema]) => [name, valueReader(schema as ParameterSchema)]),
  );
  return (query) =>
    Object.fromEntries(
      Object.entries(query as Record<string, string | readonly string[]>).map(([name, given]) => {
        const read = byName.get(name);
        return [name, read ? read(given) : given];
      }),
    );
}
