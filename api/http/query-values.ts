import type { TObject } from 'typebox';

const wholeNumber = /^-?\d{1,16}$/;

type Reader = (text: string) => unknown;

interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly items?: ParameterSchema;
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

/** Reads the occurrences of one parameter. A single occurrence of a list is split at its commas. */
function valueReader(schema: ParameterSchema): (given: string | readonly string[]) => unknown {
  if (schema.type === 'array') {
    const read = readerOf(schema.items ?? {});
    return (given) => (typeof given === 'string' ? given.split(',') : given).map(read);
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
