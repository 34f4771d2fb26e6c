import type { EntityModule } from './define.ts';
import { isExposed } from './exposure.ts';
import { operationAbove, type Condition, type Operation } from './policy.ts';
import { inWords } from '../base/snake-case.ts';

const and = new Intl.ListFormat('en', { type: 'conjunction' });
const or = new Intl.ListFormat('en', { type: 'disjunction' });

/**
 * The message for a caller without the required right: it says to whom the rules give it. It points to `explainAccess` where the
 * record exists.
 */
export function deniedMessage(module: EntityModule, operation: Operation): string {
  const allowed = (module.policy?.[operation] ?? []).filter(({ effect }) => effect === 'allow');
  const people = [...new Set(allowed.flatMap(({ when }) => describeAllowed(when, operation)))];
  const who = people.length > 0 ? `The rules allow it for ${and.format(people)}` : 'Only the server can do this';
  const reason =
    operation === 'create' || !isExposed(module) || people.length === 0
      ? ''
      : ' Owners and administrators can ask explainAccess (GraphQL) which rule decides.';
  const what =
    operation === 'create' ? `create a record of type ${module.typeName} here` : `${operation} this ${module.typeName}`;
  return `You may not ${what}. ${who}.${reason}`;
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
      return [`those who may ${operationAbove(operation)} its ${inWords(condition.field.replace(/Id$/, ''))}`];
    case 'scope':
      return condition.givenBy ? ['API tokens with its scope'] : [];
    case 'system':
    case 'about-hidden':
      return [];
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}
