import { user } from '#entities/identity/user.ts';
import {
  grantOperator,
  listOperators,
  revokeOperator,
  type OperatorGrant,
} from '#entities/kit/access/installation-operators.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ToolContext } from './tool.ts';

/** A command about who operates the installation over REST, as somebody types it who can start its programs. */
export type OperatorCommand =
  | { readonly name: 'list' }
  | {
      readonly name: 'grant' | 'revoke';
      /** E-mail address or id of the person. */
      readonly person: string;
      /** Operator who runs the command: login and host name of their machine. */
      readonly by: string;
      readonly reason: string;
    };

const maxListed = 1_000;

/** @returns whether it was done */
export async function runOperatorCommand(
  command: OperatorCommand,
  { runtime, print }: ToolContext<'database'>,
): Promise<boolean> {
  const context = { caller: systemCaller('operators'), requestId: `operators-${newId()}` };
  return runtime.database.transact({ ...context, readOnly: command.name === 'list' }, async (unit) => {
    if (command.name === 'list') {
      const grants = await listOperators(unit, maxListed);
      for (const grant of grants) print(lineOf(grant));
      if (grants.length === 0) print('Nobody operates the installation over REST: npm run operators -- grant.');
      return true;
    }
    const { name, person, by, reason } = command;
    const userId = await idOf(unit, person, name);
    if (userId === undefined) {
      print(`There is no active user ${person} with a confirmed address.`);
      return false;
    }
    const isGrant = name === 'grant';
    const isDone = await (isGrant ? grantOperator : revokeOperator)(unit, { userId, by, reason });
    if (isDone) print(`${person} (${userId}) ${isGrant ? 'is an operator now' : 'is no operator any more'}.`);
    else print(`${person} (${userId}) is ${isGrant ? 'an operator already' : 'no operator'}.`);
    return isDone;
  });
}

/** Somebody who has left can lose it, but not get it. */
async function idOf({ data }: UnitOfWork, person: string, name: 'grant' | 'revoke'): Promise<string | undefined> {
  const email = emailForm(person);
  const found = await data.findOne(user, isId(person) ? { id: { eq: person } } : { email: { eq: email } });
  if (name === 'revoke') return found?.id ?? (isId(person) ? person : undefined);
  return found?.status === 'active' && found.emailConfirmedAt !== null ? found.id : undefined;
}

function lineOf({ userId, grantedAt, grantedBy, grantReason, ...revoked }: OperatorGrant): string {
  const granted = `${userId}  since ${grantedAt.toISOString()}, by ${grantedBy}: ${grantReason}`;
  if (revoked.revokedAt === null) return granted;
  return `${granted}  until ${revoked.revokedAt.toISOString()}, by ${revoked.revokedBy}: ${revoked.revokeReason}`;
}
