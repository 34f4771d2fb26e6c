import { workKinds, type WorkKind } from '#entities/kit/outbox/failing-work.ts';
import { parseWorkPosition, type WorkSelection } from '#entities/kit/outbox/failing-work-list.ts';
import type { WorkOperation } from '#runtime/work-repairs.ts';
import { ArgumentError, asked, idOption, wholeNumber, type Arguments, type CommandForm, type Tool } from './tool.ts';

/** A command about failing work, as an operator types it. */
export type WorkCommand =
  | { readonly name: 'list'; readonly selection: WorkSelection; readonly limit: number; readonly after?: string }
  | { readonly name: 'queues' }
  | { readonly name: WorkOperation; readonly id: string; readonly operator: string; readonly reason: string };

const maxLimit = 1_000;
const defaultLimit = 50;
const options = { kind: 'string', organization: 'string', limit: 'string', after: 'string', reason: 'string' } as const;

export const workTool: Tool<typeof options, WorkCommand> = {
  name: 'work',
  needs: 'Database and Temporal',
  options,
  commands: {
    list: {
      usage: [['list [SELECTION]', 'what fails, or waits for what fails, the newest first']],
      options: ['kind', 'organization', 'limit', 'after'],
      read: listCommand,
    },
    queues: {
      usage: [['queues', 'what waits for its time, by queue; paused where nothing is begun']],
      read: () => ({ name: 'queues' }),
    },
    retry: operation('retry', 'tries it again immediately'),
    stop: operation('stop', 'gives it up'),
  },
  notes: `SELECTION: any of
  --kind KIND                ${workKinds.join(', ')}
  --organization ID          of this organization
  --limit NUMBER             most lines, ${defaultLimit} without it
  --after POSITION           lines after this one, which list has printed`,
};

function operation(name: WorkOperation, does: string): CommandForm<typeof options, WorkCommand> {
  return {
    usage: [[`${name} ID --reason TEXT`, does]],
    operand: 'id',
    options: ['reason'],
    read: ({ operands: [id = ''], values }) => ({ name, id, ...asked(values) }),
  };
}

function listCommand({ values: { kind, organization, limit, after } }: Arguments<typeof options>): WorkCommand {
  if (kind !== undefined && !isKind(kind))
    throw new ArgumentError(`no kind "${kind}"; there are ${workKinds.join(', ')}`);
  const organizationId = idOption('organization', organization);
  if (after !== undefined && !parseWorkPosition(after))
    throw new ArgumentError('--after is not a position that list has printed');
  return {
    name: 'list',
    selection: { ...(kind ? { kind } : {}), ...(organizationId ? { organizationId } : {}) },
    limit: wholeNumber('limit', limit, { otherwise: defaultLimit, max: maxLimit }),
    ...(after === undefined ? {} : { after }),
  };
}

function isKind(text: string): text is WorkKind {
  return (workKinds as readonly string[]).includes(text);
}
