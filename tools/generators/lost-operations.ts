import type {
  OpenApiDocument,
  Operation,
  Parameter,
  Response,
  Schema,
} from '#api/http/description/openapi-document.ts';

interface Sides {
  readonly before: OpenApiDocument;
  readonly now: OpenApiDocument;
}

/**
 * Promises of a description of the API that a later one does not keep, so that clients could break: operations and parameters that are
 * missing, input that is newly required or refused, and parts of answers that are missing or of another type.
 * @param today operations may be missing once their sunset is before this day (`2026-05-01`)
 */
export function lostOperations(before: OpenApiDocument, now: OpenApiDocument, today: string): string[] {
  const sides = { before, now };
  return Object.entries(before.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, held]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const next = now.paths?.[path]?.[method];
      if (!next) return isOver(held, today) ? [] : [`${name} is missing`];
      return lostOf(sides, held, next).map((part) => `${name} ${part}`);
    }),
  );
}

/** Whether an operation was announced to be missing by now. */
function isOver(operation: Operation, today: string): boolean {
  const sunset = operation['x-sunset'];
  return operation['deprecated'] === true && typeof sunset === 'string' && sunset <= today;
}

function lostOf(sides: Sides, held: Operation, next: Operation): string[] {
  return [
    ...(held.operationId === next.operationId ? [] : [`is called ${next.operationId}, no longer ${held.operationId}`]),
    ...lostParameters(sides, held, next),
    ...lostBody(sides, held, next),
    ...lostAnswers(sides, held, next),
  ];
}

function lostParameters({ before, now }: Sides, held: Operation, next: Operation): string[] {
  const parametersOf = (document: OpenApiDocument, { parameters = [] }: Operation) =>
    new Map(
      parameters.map((each) => {
        const parameter = found<Parameter>(document, each);
        return [`${parameter.in} parameter ${parameter.name}`, parameter];
      }),
    );
  const [was, is] = [parametersOf(before, held), parametersOf(now, next)];
  return [
    ...[...was].flatMap(([name, parameter]) => {
      const kept = is.get(name);
      if (!kept) return [`has lost the ${name}`];
      return lostInput({ before, now }, parameter.schema ?? {}, kept.schema ?? {}, `the ${name}`, new Set());
    }),
    ...[...is].flatMap(([name, { required }]) =>
      required && !was.get(name)?.required ? [`requires the ${name}`] : [],
    ),
  ];
}

function lostBody(sides: Sides, held: Operation, next: Operation): string[] {
  if (next.requestBody?.required && !held.requestBody?.required) return ['requires a body'];
  return Object.entries(held.requestBody?.content ?? {}).flatMap(([type, { schema = {} }]) => {
    const kept = next.requestBody?.content?.[type]?.schema;
    return kept ? lostInput(sides, schema, kept, 'the body', new Set()) : [`no longer takes ${type}`];
  });
}

function lostAnswers(sides: Sides, held: Operation, next: Operation): string[] {
  return Object.entries(held.responses ?? {}).flatMap(([status, each]) => {
    if (!status.startsWith('2')) return [];
    const [was, is] = [each as Response, next.responses?.[status] as Response | undefined];
    if (!is) return [`no longer answers ${status}`];
    return Object.entries(was.content ?? {}).flatMap(([type, { schema = {} }]) => {
      const kept = is.content?.[type]?.schema;
      return kept ? lostOutput(sides, schema, kept, `the answer ${status}`, new Set()) : [`no longer answers ${type}`];
    });
  });
}

/** Inputs that were accepted and are not any more. @param seen references that are being compared */
function lostInput(sides: Sides, was: Schema, is: Schema, place: string, seen: ReadonlySet<string>): string[] {
  const pair = compared(sides, was, is, seen);
  if (!pair) return [];
  const [held, next, more] = pair;
  const taken = typesOf(held).filter((type) => typesOf(next).length > 0 && !typesOf(next).includes(type));
  const words = (held['enum'] ?? []) as readonly unknown[];
  const offered = next['enum'] as readonly unknown[] | undefined;
  const refused = offered === undefined ? [] : words.filter((word) => !offered.includes(word));
  const heldRequired = new Set((held['required'] ?? []) as readonly string[]);
  return [
    ...taken.map((type) => `no longer takes ${type} at ${place}`),
    ...refused.map((word) => `no longer takes ${JSON.stringify(word)} at ${place}`),
    ...((next['required'] ?? []) as readonly string[]).flatMap((name) =>
      heldRequired.has(name) ? [] : [`requires ${name} in ${place}`],
    ),
    ...Object.entries(held.properties ?? {}).flatMap(([name, part]) => {
      const kept = next.properties?.[name];
      if (!kept) return [`no longer takes ${name} in ${place}`];
      return lostInput(sides, part, kept, `${name} of ${place}`, more);
    }),
    ...(held['items'] && next['items']
      ? lostInput(sides, held['items'] as Schema, next['items'] as Schema, `the items of ${place}`, more)
      : []),
  ];
}

/** Parts of answers that may be missing or have another type now. */
function lostOutput(sides: Sides, was: Schema, is: Schema, place: string, seen: ReadonlySet<string>): string[] {
  const pair = compared(sides, was, is, seen);
  if (!pair) return [];
  const [held, next, more] = pair;
  const added = typesOf(next).filter((type) => typesOf(held).length > 0 && !typesOf(held).includes(type));
  const nextRequired = new Set((next['required'] ?? []) as readonly string[]);
  return [
    ...added.map((type) => `has ${type} at ${place}`),
    ...((held['required'] ?? []) as readonly string[]).flatMap((name) =>
      nextRequired.has(name) || !next.properties?.[name] ? [] : [`no longer always has ${name} in ${place}`],
    ),
    ...Object.entries(held.properties ?? {}).flatMap(([name, part]) => {
      const kept = next.properties?.[name];
      if (!kept) return part['deprecated'] === true ? [] : [`has lost ${name} in ${place}`];
      return lostOutput(sides, part, kept, `${name} of ${place}`, more);
    }),
    ...(held['items'] && next['items']
      ? lostOutput(sides, held['items'] as Schema, next['items'] as Schema, `the items of ${place}`, more)
      : []),
  ];
}

/** Both schemas in place of references to them; undefined for a pair that is being compared already, and for two that are the same. */
function compared(
  { before, now }: Sides,
  was: Schema,
  is: Schema,
  seen: ReadonlySet<string>,
): readonly [Schema, Schema, ReadonlySet<string>] | undefined {
  const name = was.$ref ?? '';
  if (name !== '' && seen.has(name)) return undefined;
  const [held, next] = [found(before, was), found(now, is)];
  const text = JSON.stringify(held);
  return text === JSON.stringify(next) && !text.includes('"$ref"')
    ? undefined
    : [held, next, name === '' ? seen : new Set([...seen, name])];
}

function typesOf({ type }: Schema): readonly string[] {
  return [type ?? []].flat();
}

/** Target of a reference. */
function found<Part extends object>(document: OpenApiDocument, part: Part | { readonly $ref: string }): Part {
  if (!('$ref' in part) || part.$ref === undefined) return part as Part;
  const names = part.$ref.replace('#/', '').split('/');
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Part;
}
