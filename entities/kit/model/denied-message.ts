import { inWords } from '../base/snake-case.ts';
import type { Caller } from './caller.ts';
import { isConfined, isWithinReach } from './confinement.ts';
import type { EntityModule } from './define.ts';
import { isExposed } from './exposure.ts';
import { beyondLimits } from './module-gate.ts';
import { isOutOfContext, isReadOnly, operationAbove, type Condition, type Operation } from './policy.ts';
import { isWithinLimits } from './scopes.ts';

const and = new Intl.ListFormat('en', { type: 'conjunction' });
const or = new Intl.ListFormat('en', { type: 'disjunction' });

const onlyServer = 'Only the server can do this.';

const noRoles =
  ' Roles in the organization give no right to records of this type (configuration authz.parentcontextskipkinds).';

export interface Denied {
  readonly operation: Operation;
  readonly caller: Caller;
  /** The record, or what was to be created; absent where the record above decides alone. */
  readonly row?: Readonly<Record<string, unknown>>;
}

/**
 * The message for a caller without the required right: what decides against this caller, whatever the rules give to others, or else to
 * whom the rules give the right. It points to `explainAccess` where the record exists.
 */
export function deniedMessage(module: EntityModule, denied: Denied): string {
  const { operation } = denied;
  const what =
    operation === 'create' ? `create a record of type ${module.typeName} here` : `${operation} this ${module.typeName}`;
  const reason = callerReason(module, denied);
  if (reason !== undefined) return `You may not ${what}. ${reason}`;
  const rules = rulesReason(module, denied);
  const hint =
    operation === 'create' || !isExposed(module) || rules === onlyServer
      ? ''
      : ' Owners and administrators can ask explainAccess (GraphQL) which rule decides.';
  return `You may not ${what}. ${rules}${hint}`;
}

export function deniedReason(module: EntityModule, denied: Denied): string {
  return callerReason(module, denied) ?? rulesReason(module, denied);
}

/** To whom the rules give the right. */
function rulesReason(module: EntityModule, denied: Denied): string {
  const { operation } = denied;
  const allowed = (module.policy?.[operation] ?? []).filter(({ effect }) => effect === 'allow');
  const isOut = isOutOfContext(denied.caller, { kind: module.kind, operation });
  const usable = isOut ? allowed.filter(({ when }) => when.is !== 'role' && when.is !== 'scope') : allowed;
  const people = [...new Set(usable.flatMap(({ when }) => describeAllowed(when, operation)))];
  const who = people.length > 0 ? `The rules allow it for ${and.format(people)}.` : onlyServer;
  return `${who}${isOut ? noRoles : ''}`;
}

/** Reason that refuses an operation to a caller whatever relations they have to the record; undefined where the rules decide. */
function callerReason(module: EntityModule, { operation, caller, row }: Denied): string | undefined {
  const { kind, restricted } = module;
  const asked = { kind, operation };
  if (!isWithinLimits(caller, asked)) return beyondLimits(asked, caller);
  if (isConfined(caller) && !isWithinReach(module, operation))
    return "This session was started by an organization's single sign-on and is valid only for records of that organization.";
  if (isReadOnly(caller, asked))
    return 'Auditors only read: no share, group, relation to a record or parent record gives them the right to change one.';
  if (restricted && (operation === 'create' || operation === 'remove') && row?.[restricted.field] === restricted.is)
    return `A ${inWords(restricted.field)} that is ${restricted.is} needs the right to ${restricted.requires} the ${inWords(restricted.on.replace(/Id$/, ''))}.`;
  return undefined;
}

/** Those for whom a condition holds, in words; none for the server, and for API tokens where people have the right as well. */
function describeAllowed(condition: Condition, operation: Operation): string[] {
  switch (condition.is) {
    case 'anyone':
    case 'signed-in':
      return ['everybody who is signed in'];
    case 'role':
    case 'role-in':
      return [`the roles ${or.format(condition.roles)}`];
    case 'self':
      return [condition.field === 'id' ? 'the user itself' : `the user in ${condition.field}`];
    case 'member-of':
      return [`members of the organization in ${condition.field}`];
    case 'creators':
      return ['groups with the right to create such records'];
    case 'related':
      return [`users and groups related to it as ${or.format(condition.relations)}`];
    case 'through':
      return [`people who may ${operationAbove(operation)} its ${inWords(condition.field.replace(/Id$/, ''))}`];
    case 'scope':
      if (condition.field !== undefined) return ['the API token that created it'];
      return condition.givenBy ? ['API tokens with its scope'] : [];
    case 'system':
    case 'about-hidden':
      return [];
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}
