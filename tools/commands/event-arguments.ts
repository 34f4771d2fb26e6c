import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { isId } from '#entities/kit/base/ids.ts';
import { deliveryStates, parsePosition, type DeliverySelection } from '#entities/kit/outbox/delivery-list.ts';
import type { EventCommand, RepairCommand } from './event-commands.ts';
import { defaultPerSecond, maxPerSecond } from '#runtime/event-repairs.ts';

/** Arguments that are no command; the message says why. */
export class ArgumentError extends Error {}

/** Most deliveries of one list. */
const maxListed = 1_000;
const defaultListed = 50;

export const eventUsage = `usage: npm run events -- COMMAND
  list [SELECTION] [--limit N] [--after POSITION]
                             deliveries that are not done, the newest first
  count [SELECTION]          how many there are, by status, topic, listener and error
  show EVENT                 an event with its payload, deliveries and workflow runs
  retry EVENT… --reason TEXT tries failing deliveries again; --listener NAME: that one only
  skip EVENT… --reason TEXT  gives up failing and held deliveries
  retry SELECTION --reason TEXT [--rate N] [--dry-run]
  skip SELECTION --reason TEXT [--rate N] [--dry-run]
                             the same with all that are selected (--all: with every failing one), at most
                             N a second (${defaultPerSecond}); --dry-run only counts them
  progress REPAIR            how far a repair is
  stop REPAIR --reason TEXT  ends a repair
SELECTION: any of
  --status STATUS[,STATUS…]  ${deliveryStates.join(', ')}; a repair takes failing ones without it
  --listener NAME  --topic TOPIC|KIND.*  --organization ID  --request ID
  --since TIME  --until TIME (RFC 3339, of the event)  --error TEXT (part of it)`;

const text = { type: 'string' } as const;
const options = {
  config: text,
  status: text,
  listener: text,
  topic: text,
  organization: text,
  request: text,
  since: text,
  until: text,
  error: text,
  limit: text,
  after: text,
  reason: text,
  rate: text,
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
} as const;

type Values = ReturnType<
  typeof parseArgs<{ options: typeof options; args: string[]; allowPositionals: true }>
>['values'];

/** Options that select deliveries. */
const selecting = ['status', 'listener', 'topic', 'organization', 'request', 'since', 'until', 'error'] as const;

/** Options of each command, besides the path of the configuration. */
const accepted: Readonly<Record<EventCommand['name'], readonly (keyof typeof options)[]>> = {
  list: [...selecting, 'limit', 'after'],
  count: selecting,
  show: [],
  retry: [...selecting, 'reason', 'rate', 'all', 'dry-run'],
  skip: [...selecting, 'reason', 'rate', 'all', 'dry-run'],
  progress: [],
  stop: ['reason'],
};

/** @throws ArgumentError */
export function readEventCommand(args: readonly string[]): EventCommand {
  const { values, positionals } = parsed(args);
  const [name, ...ids] = positionals;
  if (!isCommand(name)) throw new ArgumentError(name === undefined ? 'a command is missing' : `no command "${name}"`);
  for (const option of Object.keys(values))
    if (option !== 'config' && !(accepted[name] as readonly string[]).includes(option))
      throw new ArgumentError(`${name} has no option --${option}`);
  const malformed = ids.findIndex((id) => !isId(id));
  if (malformed >= 0) throw new ArgumentError(`"${ids[malformed]}" is not an id`);
  if (name === 'list' || name === 'count') {
    if (ids.length > 0) throw new ArgumentError(`${name} takes no id; see show`);
    const selection = {
      states: statesOf(values) ?? deliveryStates.filter((state) => state !== 'done'),
      ...selected(values),
    };
    if (name === 'count') return { name, selection };
    const limit = wholeNumber('limit', values.limit, { otherwise: defaultListed, max: maxListed });
    const after = values.after === undefined ? undefined : parsePosition(values.after);
    if (values.after !== undefined && !after)
      throw new ArgumentError('--after is not a position that list has printed');
    return { name, selection, limit, ...(after ? { after } : {}) };
  }
  if (name === 'retry' || name === 'skip') return repairCommand(name, ids, values);
  const [id, ...others] = ids;
  if (id === undefined || others.length > 0) throw new ArgumentError(`${name} takes one id`);
  if (name === 'show') return { name, eventId: id };
  return name === 'progress' ? { name, repairId: id } : { name, repairId: id, ...asked(values) };
}

function parsed(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}

function isCommand(name: string | undefined): name is EventCommand['name'] {
  return name !== undefined && Object.hasOwn(accepted, name);
}

function repairCommand(name: 'retry' | 'skip', eventIds: readonly string[], values: Values): RepairCommand {
  const isRestricted =
    eventIds.length > 0 || selecting.some((option) => option !== 'status' && values[option] !== undefined);
  if (isRestricted === (values.all ?? false))
    throw new ArgumentError(`${name} takes ids of events, a selection, or --all`);
  const wanted: DeliverySelection['states'] =
    statesOf(values) ?? (name === 'skip' && eventIds.length > 0 ? ['failing', 'held'] : ['failing']);
  const states = wanted.filter((state) => state === 'failing' || state === 'held');
  if (states.length < wanted.length || (name === 'retry' && states.includes('held')))
    throw new ArgumentError(
      name === 'retry'
        ? 'only failing deliveries can be tried again'
        : 'only failing and held deliveries can be skipped',
    );
  return {
    name,
    selection: { states, ...selected(values), ...(eventIds.length > 0 ? { eventIds } : {}) },
    perSecond: wholeNumber('rate', values.rate, { otherwise: defaultPerSecond, max: maxPerSecond }),
    isDryRun: values['dry-run'] ?? false,
    ...asked(values),
  };
}

/** Who asks, and why. */
function asked({ reason = '' }: Values): { readonly operator: string; readonly reason: string } {
  if (reason.trim() === '') throw new ArgumentError('--reason says why; it is kept');
  return { operator: `${userInfo().username}@${hostname()}`, reason: reason.trim() };
}

function statesOf({ status }: Values): DeliverySelection['states'] | undefined {
  if (status === undefined) return undefined;
  const states = status.split(',');
  const unknown = states.find((name) => !(deliveryStates as readonly string[]).includes(name));
  if (unknown !== undefined) throw new ArgumentError(`no status "${unknown}"; there are ${deliveryStates.join(', ')}`);
  return deliveryStates.filter((name) => states.includes(name));
}

function selected(values: Values): Omit<DeliverySelection, 'states'> {
  const { listener, topic, organization: organizationId, request: requestId, error } = values;
  if (organizationId !== undefined && !isId(organizationId)) throw new ArgumentError('--organization is not an id');
  const since = instant('since', values.since);
  const until = instant('until', values.until);
  const known = { listener, topic, organizationId, requestId, error, since, until };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

function instant(option: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const at = new Date(value);
  if (Number.isNaN(at.getTime()) || !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(value))
    throw new ArgumentError(`--${option} "${value}" is not a time such as 2026-01-31T09:30:00Z`);
  return at.toISOString();
}

function wholeNumber(
  option: string,
  value: string | undefined,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const number = value === undefined ? otherwise : Number(value);
  if (!Number.isInteger(number) || number < 1 || number > max)
    throw new ArgumentError(`--${option} is a whole number from 1 to ${max}`);
  return number;
}
