import type { Expressions } from '#entities/automation/document/expressions.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { emailForm, parseEmail } from '#entities/kit/base/email-address.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { found } from '#entities/kit/base/schema-problem.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { validateCreations } from '#entities/kit/model/input.ts';
import type { Envelope, IngestedKind, Mapping } from '../../clients/integrations/definition.ts';
import { ProviderError } from '../../clients/integrations/provider-error.ts';
import { filterEnvironment } from '../../clients/integrations/filter-environment.ts';
import { kindsToIngest } from './ingested-kinds.ts';
import { readableValue, writtenValue } from './payload-values.ts';

type Values = Readonly<Record<string, unknown>>;

/** A record that could not be taken over, or was left out because it has the key of an earlier one. */
export interface RecordFailure {
  readonly kind: IngestedKind;
  /** Id at the other system; of a record without one, its place on the page, such as `#3`. */
  readonly externalId: string;
  readonly reason: string;
}

/** A record as the kind has it: its values are checked and in the form in which they are stored. */
export interface MappedRecord {
  readonly kind: IngestedKind;
  readonly externalId: string;
  readonly values: Values;
}

export interface MappedRecords {
  readonly records: readonly MappedRecord[];
  readonly filtered: number;
  readonly failures: readonly RecordFailure[];
  /** Records that have the key of an earlier one. */
  readonly repeated: readonly RecordFailure[];
}

interface MappingRequest {
  readonly mappings: readonly Mapping[];
  /** Filter of the organization; absent: everything comes in. */
  readonly filterExpr?: string | undefined;
  readonly records: readonly Envelope[];
  /** Organization and integration whose records they become. */
  readonly owner: { readonly organizationId: string; readonly integrationId: string };
}

/** Records whose expressions are evaluated at once. */
const sliceSize = 200;

/** Longest reason that is kept. */
const maxReasonLength = 300;

/** Errors that another record of the same expression has as well. */
const limitCodes: ReadonlySet<string> = new Set(['timeout', 'cost_limit', 'memory_limit']);

/**
 * Filters records of another system and turns them into ours. A record with wrong values is named and fails nothing else; of several with the
 * same key the first one stays, and the others are named. It writes nothing, so no transaction waits for expressions.
 * @throws ProviderError refused for expressions that are too costly; unavailable while too many expressions wait
 */
export async function mapRecords(expressions: Expressions, request: MappingRequest): Promise<MappedRecords> {
  const failures: RecordFailure[] = [];
  const repeated: RecordFailure[] = [];
  const byKey = new Map<string, MappedRecord>();
  let filtered = 0;
  for (let start = 0; start < request.records.length; start += sliceSize) {
    const slice = request.records.slice(start, start + sliceSize).map((envelope, index) => ({
      envelope,
      place: `#${start + index + 1}`,
      mapping: request.mappings.find(({ kind, variant }) => kind === envelope.kind && variant === envelope.variant),
      variables: {
        payload: readableValue(envelope.payload),
        kind: envelope.kind,
        variant: envelope.variant ?? '',
      },
    }));
    for (const result of await mapSlice(expressions, request, slice)) {
      if (result === 'filtered') filtered += 1;
      else if ('reason' in result) failures.push(result);
      else {
        const key = `${result.kind} ${result.externalId}`;
        if (byKey.has(key)) repeated.push(repetitionOf(result));
        else byKey.set(key, result);
      }
    }
  }
  return { records: [...byKey.values()], filtered, failures, repeated };
}

/** Names a record whose key an earlier record of the same run has. */
export function repetitionOf({ kind, externalId, values }: MappedRecord): RecordFailure {
  const name =
    kind === 'directoryMembership' ? membershipName(values['account'], values['group']) : shortened(externalId);
  return {
    kind,
    externalId: name,
    reason: 'an earlier record of this run has the same id; that one was taken over, and this one was left out',
  };
}

function membershipName(account: unknown, group: unknown): string {
  return shortened(`${String(account)} in ${String(group)}`);
}

interface Item {
  readonly envelope: Envelope;
  readonly place: string;
  readonly mapping: Mapping | undefined;
  readonly variables: Values;
}

type MappingResult = MappedRecord | RecordFailure | 'filtered';

async function mapSlice(
  expressions: Expressions,
  { filterExpr, owner }: MappingRequest,
  items: readonly Item[],
): Promise<MappingResult[]> {
  const results = new Map<Item, MappingResult>();
  const evaluator = new SliceEvaluator(expressions);
  const fail = (item: Item, reason: string) => results.set(item, failureOf(item, reason));
  for (const item of items) if (!item.mapping) fail(item, `the integration has no mapping for such records`);
  const filters: readonly [string, (item: Item) => string | undefined][] = [
    ['the filter', () => filterExpr],
    ['the filter of the mapping', ({ mapping }) => mapping?.filterExpr],
  ];
  for (const [what, expressionOf] of filters)
    for (const [item, result] of await evaluator.run(what, open(items, results), expressionOf, 'bool')) {
      if ('error' in result) fail(item, `${what} fails: ${result.error.message}`);
      else if (result.value !== true) results.set(item, 'filtered');
    }
  const mapped = await evaluator.run(
    'the mapping',
    open(items, results),
    ({ mapping }) => mapping?.mapExpr,
    'map<string, dyn>',
  );
  for (const [item, result] of mapped) {
    if ('error' in result) fail(item, `the mapping fails: ${result.error.message}`);
    else results.set(item, checkedRecord(item, writtenValue(result.value) as Values, owner));
  }
  return items.flatMap((item) => results.get(item) ?? []);
}

function open(items: readonly Item[], results: ReadonlyMap<Item, unknown>): Item[] {
  return items.filter((item) => !results.has(item));
}

type Evaluated = Awaited<ReturnType<Expressions['evaluate']>>[number];

class SliceEvaluator {
  readonly #expressions: Expressions;

  constructor(expressions: Expressions) {
    this.#expressions = expressions;
  }

  /** @returns the results of those that have the expression */
  async run(
    what: string,
    items: readonly Item[],
    expressionOf: (item: Item) => string | undefined,
    expected: string,
  ): Promise<(readonly [Item, Evaluated])[]> {
    const given = items.flatMap((item) => {
      const expression = expressionOf(item);
      return expression === undefined || expression.trim() === '' ? [] : [{ item, expression }];
    });
    if (given.length === 0) return [];
    const results = await this.#expressions.evaluate({
      environment: filterEnvironment,
      items: given.map(({ item, expression }) => ({ expression, variables: item.variables, expected })),
    });
    const codes = results.map((result) => ('error' in result ? result.error.code : ''));
    if (codes.includes('busy'))
      throw new ProviderError(
        'unavailable',
        'Too many expressions wait to be evaluated. The server tries again by itself.',
      );
    if (codes.every((code) => limitCodes.has(code)))
      throw new ProviderError(
        'refused',
        `For every record, ${what} takes too much time or memory. Make the expression simpler, then start the operation again.`,
      );
    return given.flatMap(({ item }, index) => {
      const result = results[index];
      return result ? [[item, result] as const] : [];
    });
  }
}

function failureOf({ envelope: { kind, payload }, place }: Item, reason: string, externalId?: unknown): RecordFailure {
  const given = externalId ?? (payload as Values | null | undefined)?.['id'];
  const name =
    typeof given === 'string' || typeof given === 'number' || typeof given === 'bigint' ? String(given) : place;
  return { kind, externalId: shortened(name), reason: reason.slice(0, maxReasonLength).toWellFormed() };
}

/** Checks what a mapping gives against the fields of the kind. */
function checkedRecord(item: Item, given: Values, owner: MappingRequest['owner']): MappedRecord | RecordFailure {
  const { kind } = item.envelope;
  const { module, fields } = kindsToIngest[kind];
  const unknown = Object.keys(given).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    return failureOf(
      item,
      `the mapping gives "${shortened(unknown)}", which is no field that comes in`,
      given['externalId'],
    );
  if (kind === 'directoryMembership') return checkedMembership(item, given, owner);
  const email = given['email'];
  const isAddress = typeof email !== 'string' || email === '' || parseEmail(email) !== undefined;
  if (!isAddress) return failureOf(item, `email is no e-mail address${found(email)}`, given['externalId']);
  const input = { ...given, ...(typeof email === 'string' ? { email: email === '' ? null : emailForm(email) } : {}) };
  const values = validated(module, { ...input, ...owner });
  if (typeof values === 'string') return failureOf(item, values, given['externalId']);
  return { kind, externalId: values['externalId'] as string, values: only(values, fields) };
}

/** Account and group are ids at the other system until the record is written. */
function checkedMembership(item: Item, given: Values, owner: MappingRequest['owner']): MappedRecord | RecordFailure {
  const { account, group, ...rest } = given;
  for (const [name, id] of Object.entries({ account, group }))
    if (typeof id !== 'string' || id === '')
      return failureOf(item, `${name} must be the id of a record at the other system${found(id)}`);
  const externalId = JSON.stringify([account, group]);
  const { module } = kindsToIngest.directoryMembership;
  const values = validated(module, { ...rest, ...owner, accountId: newId(), groupId: newId() });
  if (typeof values === 'string') return failureOf(item, values, membershipName(account, group));
  return { kind: 'directoryMembership', externalId, values: { account, group, role: values['role'] } };
}

function validated(module: Parameters<typeof validateCreations>[0][number]['module'], input: Values): Values | string {
  try {
    return validateCreations([{ module, input: { ...input }, path: '' }])[0] as Values;
  } catch (error) {
    if (!isAppError(error) || !error.details.fields) throw error;
    return error.details.fields.map(({ path, message }) => `${path.slice(1)} ${message}`).join('; ');
  }
}

function only(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}
