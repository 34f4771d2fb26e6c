import { isId } from '#entities/kit/base/ids.ts';
import { deliveryStates, parsePosition, type DeliverySelection } from '#entities/kit/outbox/delivery-list.ts';
import { defaultPerSecond, maxPerSecond } from '#runtime/event-repairs.ts';
import type { EventCommand, RepairCommand } from './event-commands.ts';
import { ArgumentError, asked, idOption, wholeNumber, type Arguments, type Tool } from './tool.ts';

const maxListed = 1_000;
const defaultListed = 50;

const options = {
  status: 'string',
  listener: 'string',
  topic: 'string',
  organization: 'string',
  request: 'string',
  since: 'string',
  until: 'string',
  error: 'string',
  limit: 'string',
  after: 'string',
  reason: 'string',
  rate: 'string',
  all: 'boolean',
  'dry-run': 'boolean',
} as const;

type Given = Arguments<typeof options>;
type Values = Given['values'];

/** Options that select deliveries. */
const selecting = ['status', 'listener', 'topic', 'organization', 'request', 'since', 'until', 'error'] as const;
const repairing = [...selecting, 'reason', 'rate', 'all', 'dry-run'] as const;

export const eventsTool: Tool<typeof options, EventCommand> = {
  name: 'events',
  needs: 'Database, Temporal and a worker',
  options,
  commands: {
    list: {
      usage: [['list [SELECTION] [--limit N] [--after POSITION]', 'deliveries that are not done, the newest first']],
      options: [...selecting, 'limit', 'after'],
      read: ({ values }) => ({ name: 'list', selection: listed(values), ...pageOf(values) }),
    },
    count: {
      usage: [['count [SELECTION]', 'how many there are, by status, topic, listener and error']],
      options: selecting,
      read: ({ values }) => ({ name: 'count', selection: listed(values) }),
    },
    show: {
      usage: [['show EVENT', 'an event with its payload, deliveries and workflow runs']],
      operand: 'id',
      read: (given) => ({ name: 'show', eventId: idOf(given) }),
    },
    retry: {
      usage: [
        ['retry EVENT… --reason TEXT', 'tries failing deliveries again; --listener NAME: that one only'],
        [
          'retry SELECTION --reason TEXT [--rate N] [--dry-run]',
          `the same with all that are selected (--all: with every failing one),\nat most N a second (${defaultPerSecond}); --dry-run only counts them`,
        ],
      ],
      operand: { times: 'any' },
      options: repairing,
      read: (given) => repairCommand('retry', given),
    },
    skip: {
      usage: [
        ['skip EVENT… --reason TEXT', 'gives up failing and held deliveries'],
        ['skip SELECTION --reason TEXT [--rate N] [--dry-run]', 'the same with all that are selected, as with retry'],
      ],
      operand: { times: 'any' },
      options: repairing,
      read: (given) => repairCommand('skip', given),
    },
    progress: {
      usage: [['progress REPAIR', 'how many deliveries a repair has done']],
      operand: 'id',
      read: (given) => ({ name: 'progress', repairId: idOf(given) }),
    },
    stop: {
      usage: [['stop REPAIR --reason TEXT', 'ends a repair']],
      operand: 'id',
      options: ['reason'],
      read: (given) => ({ name: 'stop', repairId: idOf(given), ...asked(given.values) }),
    },
  },
  notes: `SELECTION: any of
  --status STATUS[,STATUS…]  ${deliveryStates.join(', ')}; a repair takes failing ones without it
  --listener NAME  --topic TOPIC|KIND.*  --organization ID  --request ID
  --since TIME  --until TIME (RFC 3339, of the event)  --error TEXT (part of it)`,
};

function idOf({ operands: [id = ''] }: Given): string {
  const isValid: boolean = isId(id);
  if (!isValid) throw new ArgumentError(`"${id}" is not an id`);
  return id;
}

function listed(values: Values): DeliverySelection {
  return { states: statesOf(values) ?? deliveryStates.filter((state) => state !== 'done'), ...selected(values) };
}

function pageOf(values: Values) {
  const limit = wholeNumber('limit', values.limit, { otherwise: defaultListed, max: maxListed });
  if (values.after === undefined) return { limit };
  const after = parsePosition(values.after);
  if (!after) throw new ArgumentError('--after is not a position that list has printed');
  return { limit, after };
}

function repairCommand(name: 'retry' | 'skip', { operands, values }: Given): RepairCommand {
  const eventIds = operands.map((id) => idOf({ operands: [id], values }));
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

function statesOf({ status }: Values): DeliverySelection['states'] | undefined {
  if (status === undefined) return undefined;
  const states = status.split(',');
  const unknown = states.find((name) => !(deliveryStates as readonly string[]).includes(name));
  if (unknown !== undefined) throw new ArgumentError(`no status "${unknown}"; there are ${deliveryStates.join(', ')}`);
  return deliveryStates.filter((name) => states.includes(name));
}

function selected(values: Values): Omit<DeliverySelection, 'states'> {
  const { listener, topic, request: requestId, error } = values;
  const organizationId = idOption('organization', values.organization);
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
