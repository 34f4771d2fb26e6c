import type { TObject } from 'typebox';

const wholeNumber = /^-?\d{1,15}$/;

type Reader = (text: string) => unknown;

const readers: Readonly<Record<string, Reader>> = {
  integer: (text) => (wholeNumber.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
};

/** Query parameters are strings: converts integers and booleans before the validation. */
export function queryReader({ properties }: TObject): (query: object) => Record<string, unknown> {
  const byName = new Map<string, Reader | undefined>(
    Object.entries(properties).map(([name, schema]) => [
      name,
      readers[(schema as { readonly type?: string }).type ?? ''],
    ]),
  );
  return (query) =>
    Object.fromEntries(
      Object.entries(query).map(([name, value]: [string, unknown]) => {
        const read = byName.get(name);
        return [name, read && typeof value === 'string' ? read(value) : value];
      }),
    );
}
