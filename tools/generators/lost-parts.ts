interface SchemaPart {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly required?: readonly string[];
  readonly items?: SchemaPart;
}

/**
 * Promises of a schema that a later one does not keep: properties that are missing or no longer required, and values of another type. Each
 * is the end of a sentence.
 */
export function lostParts(before: object, now: object, path = ''): string[] {
  const held = before as SchemaPart;
  const next = now as SchemaPart;
  const lost: string[] = [];
  const name = path === '' ? 'the message' : path;
  if (!isEqual(held.type, next.type) || !isEqual(held.const, next.const)) lost.push(`has another type at ${name}`);
  for (const [key, part] of Object.entries(held.properties ?? {})) {
    const own = path === '' ? key : `${path}.${key}`;
    const kept = next.properties?.[key];
    if (!kept) lost.push(`has lost ${own}`);
    else {
      if (held.required?.includes(key) && !next.required?.includes(key)) lost.push(`no longer always has ${own}`);
      lost.push(...lostParts(part, kept, own));
    }
  }
  if (held.items) lost.push(...lostParts(held.items, next.items ?? {}, `${path}[]`));
  return lost;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
