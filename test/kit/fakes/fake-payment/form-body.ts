/** A value of a form of the payment provider: `items[0][price]=p` is `{ items: [{ price: 'p' }] }`. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue };
export type Form = Readonly<Record<string, FormValue>>;

/** Reads a body, or the query of a URL. */
export function readForm(parameters: URLSearchParams): Form {
  const form: { [name: string]: FormValue } = {};
  for (const [name, value] of parameters) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''));
    put(form, path, value);
  }
  return withLists(form) as Form;
}

/** A text of a form; undefined when it is left out. */
export function textOf(form: Form, name: string): string | undefined {
  const value = form[name];
  return typeof value === 'string' ? value : undefined;
}

/** A part of a form with names of its own; empty when it is left out. */
export function partOf(form: Form, name: string): Form {
  const value = form[name];
  return typeof value === 'object' && !Array.isArray(value) ? value : {};
}

/** Texts that callers keep with an object. */
export function metadataOf(form: Form): Record<string, string> {
  const metadata = partOf(form, 'metadata');
  return Object.fromEntries(Object.keys(metadata).map((name) => [name, textOf(metadata, name) ?? '']));
}

/** A list of a form; empty when it is left out. */
export function listOf(form: Form, name: string): readonly FormValue[] {
  const value = form[name];
  return Array.isArray(value) ? value : [];
}

function put(target: { [name: string]: FormValue }, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = target[name];
  const next = typeof inner === 'object' && !Array.isArray(inner) ? inner : {};
  target[name] = next;
  // `expand[]=x` has no number.
  put(next, rest[0] === '' ? [String(Object.keys(next).length), ...rest.slice(1)] : rest, value);
}

function withLists(value: FormValue): FormValue {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, withLists(inner)] as const);
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
