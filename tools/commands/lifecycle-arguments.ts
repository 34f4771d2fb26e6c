import { isId } from '#entities/kit/base/ids.ts';
import { maxDays } from '#runtime/lifecycle-operations.ts';
import { ArgumentError, asked, wholeNumber, type Arguments, type CommandForm, type Tool } from './tool.ts';

/** A command about the ends of organizations, as an operator types it. */
export type LifecycleCommand =
  | { readonly name: 'list'; readonly days: number | undefined }
  | { readonly name: 'explain'; readonly organizationId: string }
  | ({ readonly name: 'postpone'; readonly organizationId: string; readonly until: string } & Asked)
  | ({ readonly name: 'spare'; readonly organizationId: string; readonly until: string | null } & Asked)
  | ({ readonly name: 'undelete'; readonly organizationId: string } & Asked);

type Asked = ReturnType<typeof asked>;

const options = { within: 'string', until: 'string', reason: 'string' } as const;

type Given = Arguments<typeof options>;

export const lifecycleTool: Tool<typeof options, LifecycleCommand> = {
  name: 'lifecycle',
  needs: 'The database',
  options,
  commands: {
    list: {
      usage: [
        ['list', 'organizations that are marked for deletion, the oldest mark first'],
        ['list --within DAYS', 'those that will be marked within so many days as well'],
      ],
      options: ['within'],
      read: ({ values: { within } }) => ({
        name: 'list',
        days: within === undefined ? undefined : wholeNumber('within', within, { otherwise: 0, max: maxDays }),
      }),
    },
    explain: ofOrganization(
      'explain',
      '',
      'what decides about an organization, and what comes next',
      [],
      (name, id) => ({
        name,
        organizationId: id,
      }),
    ),
    postpone: ofOrganization(
      'postpone',
      '--until DAY --reason TEXT',
      'moves the day of a deletion; no notice is sent twice',
      ['until', 'reason'],
      (name, organizationId, { until, ...values }) => {
        if (until === undefined) throw new ArgumentError('postpone takes --until DAY');
        return { name, organizationId, until, ...asked(values) };
      },
    ),
    spare: ofOrganization(
      'spare',
      '[--until DAY] --reason TEXT',
      'takes a mark back, and keeps the organization from being\nmarked, for ever without --until',
      ['until', 'reason'],
      (name, organizationId, { until = null, ...values }) => ({ name, organizationId, until, ...asked(values) }),
    ),
    undelete: ofOrganization(
      'undelete',
      '--reason TEXT',
      'restores a deleted organization within seven days, without\nits credentials; a worker does it',
      ['reason'],
      (name, organizationId, values) => ({ name, organizationId, ...asked(values) }),
    ),
  },
  notes: `  ORGANIZATION is an id, DAY a day such as 2027-01-31, which begins in UTC, or an instant (RFC 3339)`,
};

function ofOrganization<const Name extends LifecycleCommand['name']>(
  name: Name,
  more: string,
  does: string,
  wanted: readonly ('until' | 'reason')[],
  read: (name: Name, organizationId: string, values: Given['values']) => LifecycleCommand,
): CommandForm<typeof options, LifecycleCommand> {
  return {
    usage: [[`${name} ORGANIZATION ${more}`.trim(), does]],
    operand: 'organization',
    options: wanted,
    read: ({ operands: [organizationId = ''], values }) => {
      if (!isId(organizationId))
        throw new ArgumentError(`${name} takes the id of an organization, not "${String(organizationId)}"`);
      return read(name, organizationId, values);
    },
  };
}
