import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { isId } from '#entities/kit/base/ids.ts';
import { workKinds, type WorkKind } from '#entities/kit/outbox/failing-work.ts';
import { parseWorkPosition, type WorkSelection } from '#entities/kit/outbox/failing-work-list.ts';
import { ArgumentError } from './event-arguments.ts';
import type { WorkOperation } from '#runtime/work-repairs.ts';

/** A command about failing work, as an operator types it. */
export type WorkCommand =
  | { readonly name: 'list'; readonly selection: WorkSelection; readonly limit: number; readonly after?: string }
  | { readonly name: WorkOperation; readonly id: string; readonly operator: string; readonly reason: string };

export const workUsage = `usage: npm run work -- COMMAND

  list [SELECTION]           what fails, or waits for what fails, the newest first
  retry ID --reason TEXT     tries it again at once
  stop ID --reason TEXT      gives it up

A selection is any of
  --kind KIND                ${workKinds.join(', ')}
  --organization ID          of this organization
  --limit NUMBER             most lines, 50 without it
  --after POSITION           lines after this one, which list has printed`;

const maxLimit = 1_000;
const text = { type: 'string' } as const;
const options = { kind: text, organization: text, limit: text, after: text, reason: text, config: text } as const;

/** @throws ArgumentError */
export function readWorkCommand(args: readonly string[]): WorkCommand {
  const { values, positionals } = parsed(args);
  const [name, ...ids] = positionals;
  if (name === 'list') {
    if (ids.length > 0 || values.reason !== undefined) throw new ArgumentError('list takes a selection');
    const { kind, organization: organizationId, after, limit = '50' } = values;
    if (kind !== undefined && !isKind(kind))
      throw new ArgumentError(`no kind "${kind}"; there are ${workKinds.join(', ')}`);
    if (organizationId !== undefined && !isId(organizationId)) throw new ArgumentError('--organization is not an id');
    if (after !== undefined && !parseWorkPosition(after))
      throw new ArgumentError('--after is not a position that list has printed');
    if (!/^[1-9]\d*$/.test(limit) || Number(limit) > maxLimit)
      throw new ArgumentError(`--limit is a whole number from 1 to ${maxLimit}`);
    const selection = { ...(kind ? { kind } : {}), ...(organizationId ? { organizationId } : {}) };
    return { name, selection, limit: Number(limit), ...(after === undefined ? {} : { after }) };
  }
  if (name !== 'retry' && name !== 'stop') throw new ArgumentError('a command is list, retry or stop');
  const [id, ...others] = ids;
  if (id === undefined || others.length > 0) throw new ArgumentError(`${name} takes one id`);
  const { reason = '', kind, organization, limit, after } = values;
  if ([kind, organization, limit, after].some((value) => value !== undefined))
    throw new ArgumentError(`${name} takes an id and --reason`);
  if (reason.trim() === '') throw new ArgumentError('--reason says why; it is kept');
  return { name, id, operator: `${userInfo().username}@${hostname()}`, reason: reason.trim() };
}

function isKind(text: string): text is WorkKind {
  return (workKinds as readonly string[]).includes(text);
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}
