/** A `Set-Cookie` header taken apart, attributes in lower case. */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  readonly attributes: Readonly<Record<string, string | true>>;
}

/** The cookies an answer sets, by name. */
export function cookiesOf(headers: Readonly<Record<string, unknown>>): Map<string, SetCookie> {
  const lines = [headers['set-cookie'] ?? []].flat() as string[];
  return new Map(
    lines.map((line) => {
      const [pair = '', ...rest] = line.split('; ');
      const name = pair.slice(0, pair.indexOf('='));
      const attributes = Object.fromEntries(
        rest.map((attribute) => {
          const [key = '', value] = attribute.split('=', 2);
          return [key.toLowerCase(), value ?? true] as const;
        }),
      );
      return [name, { name, value: pair.slice(pair.indexOf('=') + 1), attributes }];
    }),
  );
}
